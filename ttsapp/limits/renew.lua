-- KEYS, two for each subject: its leases, what they hold. ARGV: now or 0, lease, its ms.
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
for key = 1, #KEYS, 2 do
  redis.call('ZADD', KEYS[key], 'XX', now + tonumber(ARGV[3]), ARGV[2])
  redis.call('PEXPIRE', KEYS[key], 2 * ARGV[3])
  redis.call('PEXPIRE', KEYS[key + 1], 2 * ARGV[3])
end
