-- A stream lives and holds so much: renewed, counted again where it was forgotten, or grown.
-- KEYS as for admit.lua. ARGV: now or 0, lease, its ms, its characters, its cost; and where it has
-- grown the characters that are new, the purse's funds or -1, and for each subject soft, hard or -1.
-- Answers, if it has grown: limit (4 or 5) or 0, subject, unknown as bits (the highest: the purse's).
local lease, lease_ms, characters, cost = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local subjects = math.floor(#KEYS / 4)

local function held(key, name)
  return tonumber(redis.call('HGET', KEYS[key + 2], name) or 0)
end

local function hold(key, sum, name, least)
  local lacks = least - held(key, name)
  if lacks > 0 then
    redis.call('HINCRBY', KEYS[key + 2], name, lacks)
    redis.call('HINCRBY', KEYS[key + 2], sum, lacks)
  end
end

-- The limit that leaves no room, its subject, and what is not known.
local function look(funds)
  local limit, subject, unknown = 0, 0, 0
  for i = 1, subjects do
    local key, soft, hard = 4 * i - 3, tonumber(ARGV[6 + 2 * i]), tonumber(ARGV[7 + 2 * i])
    drop_dead(KEYS[key + 1], KEYS[key + 2])
    if soft >= 0 or hard >= 0 then
      local spent = redis.call('GET', KEYS[key + 3])
      if not spent then
        unknown = unknown + 2 ^ (i - 1)
      elseif limit == 0 and hard >= 0 and spent + held(key, '=') - held(key, lease) + characters > hard then
        limit, subject = 4, i - 1
      end
    end
  end
  if funds >= 0 then
    local used = redis.call('GET', KEYS[#KEYS])
    if not used then
      unknown = unknown + 2 ^ subjects
    elseif used + held(1, '$') - held(1, '$' .. lease) + cost > funds then
      limit, subject = 5, 0
    end
  end
  return limit, subject, unknown
end

local more = tonumber(ARGV[6] or 0)
if ARGV[7] then
  local limit, subject, unknown = look(tonumber(ARGV[7]))
  if limit + unknown > 0 then return {limit, subject, unknown} end
end
for i = 1, subjects do
  local key = 4 * i - 3
  redis.call('ZADD', KEYS[key + 1], now + lease_ms, lease)
  hold(key, '=', lease, characters)
  if i == 1 and cost > 0 then hold(key, '$', '$' .. lease, cost) end
  redis.call('PEXPIRE', KEYS[key + 1], 2 * lease_ms)
  redis.call('PEXPIRE', KEYS[key + 2], 2 * lease_ms)
  if more > 0 then add_characters(KEYS[key], more) end
end
return {0, 0, 0}
