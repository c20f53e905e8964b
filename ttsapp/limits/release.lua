-- KEYS as for admit.lua. ARGV: now or 0, lease, characters that came later, characters charged,
-- micros charged.
-- Minus nothing is no integer to Redis: what was held is taken from 0.
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local lease, more, charged = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local subjects = math.floor(#KEYS / 4)
local slot = string.format('%d', math.floor(now / 5000))
for key = 1, 4 * subjects, 4 do
  if redis.call('ZREM', KEYS[key + 1], lease) == 1 then
    for _, sum in ipairs({'=', '$'}) do
      local name = sum == '=' and lease or '$' .. lease
      redis.call('HINCRBY', KEYS[key + 2], sum, 0 - tonumber(redis.call('HGET', KEYS[key + 2], name) or 0))
      redis.call('HDEL', KEYS[key + 2], name)
    end
  end
  if more > 0 then
    redis.call('HINCRBY', KEYS[key], 'c' .. slot, more)
    redis.call('PEXPIRE', KEYS[key], 5000 * 14)
  end
  if redis.call('EXISTS', KEYS[key + 3]) == 1 then
    redis.call('INCRBY', KEYS[key + 3], charged)
  end
end
if #KEYS > 4 * subjects and redis.call('EXISTS', KEYS[#KEYS]) == 1 then
  redis.call('INCRBY', KEYS[#KEYS], ARGV[5])
end
