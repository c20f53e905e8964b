-- KEYS as for admit.lua. ARGV: now or 0, lease, characters that came later, characters charged,
-- micros charged.
local lease, more, charged = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local subjects = math.floor(#KEYS / 4)
for key = 1, 4 * subjects, 4 do
  if redis.call('ZREM', KEYS[key + 1], lease) == 1 then free(KEYS[key + 2], lease) end
  if more > 0 then add_characters(KEYS[key], more) end
  if redis.call('EXISTS', KEYS[key + 3]) == 1 then
    redis.call('INCRBY', KEYS[key + 3], charged)
  end
end
if #KEYS > 4 * subjects and redis.call('EXISTS', KEYS[#KEYS]) == 1 then
  redis.call('INCRBY', KEYS[#KEYS], ARGV[5])
end
