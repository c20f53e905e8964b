-- What all scripts begin with. Minus nothing is no integer to Redis: what was held is taken from 0.
local SLOT = 5000
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local slot = math.floor(now / SLOT)

local function free(held, lease)
  for sum, name in pairs({['='] = lease, ['$'] = '$' .. lease}) do
    redis.call('HINCRBY', held, sum, 0 - tonumber(redis.call('HGET', held, name) or 0))
    redis.call('HDEL', held, name)
  end
end

local function drop_dead(leases, held)
  local dead = redis.call('ZRANGEBYSCORE', leases, '-inf', now)
  for _, lease in ipairs(dead) do free(held, lease) end
  if #dead > 0 then redis.call('ZREMRANGEBYSCORE', leases, '-inf', now) end
end

local function add_characters(minute, characters)
  redis.call('HINCRBY', minute, 'c' .. string.format('%d', slot), characters)
  redis.call('PEXPIRE', minute, SLOT * 14)
end

