-- The rules of local.py in one step. KEYS, four for each subject: its minute's slots, its leases,
-- what they hold, what is spent; then, of who pays ahead, what is used up. ARGV: now or 0, lease,
-- its ms, characters, ms left of the month, ms for which `spent` is good, and of the purse, or -1
-- each: funds, cost; then for each subject requests, characters, streams, soft, hard or -1.
-- Answers: limit (1 to 5) or 0, subject, wait, unknown as bits (the highest: the purse's), used up
-- of the purse and its age or -1 each, then seven for each subject.
-- What leases hold: of a budget by their names, of the purse behind a `$`, and the sums, `=`, `$`.
local SLOTS, STREAM_WAIT, NEVER = 13, 1000, 1e15
local lease, lease_ms, characters = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local month_left, spent_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local funds, cost = tonumber(ARGV[7]), tonumber(ARGV[8])
local subjects, used, age = math.floor(#KEYS / 4), -1, -1
local refused = {0, 0, 0}
local counts = {}
local unknown = 0

local function refuse(limit, subject, wait)
  if refused[1] == 0 or wait > refused[3] then refused = {limit, subject - 1, wait} end
end

local function minute(key)
  local found = {slots = {}, requests = 0, characters = 0, r = {}, c = {}}
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do
    local kind, at, used = flat[i]:sub(1, 1), tonumber(flat[i]:sub(2)), tonumber(flat[i + 1])
    if at <= slot - SLOTS then
      redis.call('HDEL', key, flat[i])
    else
      if not (found.r[at] or found.c[at]) then table.insert(found.slots, at) end
      found[kind][at] = used
      local name = kind == 'r' and 'requests' or 'characters'
      found[name] = found[name] + used
    end
  end
  table.sort(found.slots)
  return found
end

local function wait(found, used, kind, cost, limit)
  local excess, until_ms = used + cost - limit, 0
  for _, at in ipairs(found.slots) do
    if excess <= 0 then break end
    excess = excess - (found[kind][at] or 0)
    until_ms = (at + SLOTS) * SLOT - now
  end
  return until_ms
end

for i = 1, subjects do
  local key, at = 4 * i - 3, 8 + 5 * (i - 1)
  local requests, most, streams = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local soft, hard = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  local found = minute(KEYS[key])
  drop_dead(KEYS[key + 1], KEYS[key + 2])
  found.streams = redis.call('ZCARD', KEYS[key + 1])
  found.soft, found.committed, found.age = soft, -1, -1
  if soft >= 0 or hard >= 0 then
    local spent = redis.call('GET', KEYS[key + 3])
    if spent then
      found.committed = tonumber(spent) + tonumber(redis.call('HGET', KEYS[key + 2], '=') or 0)
      found.age = spent_ms - redis.call('PTTL', KEYS[key + 3])
    else
      unknown = unknown + 2 ^ (i - 1)
    end
  end
  if requests >= 0 and found.requests + 1 > requests then
    refuse(1, i, wait(found, found.requests, 'r', 1, requests))
  end
  if most >= 0 and found.characters + characters > most then
    refuse(2, i, wait(found, found.characters, 'c', characters, most))
  end
  if streams >= 0 and found.streams + 1 > streams then refuse(3, i, STREAM_WAIT) end
  if hard >= 0 and found.committed + characters > hard then refuse(4, i, month_left) end
  counts[i] = found
end

if funds >= 0 then
  local known = redis.call('GET', KEYS[4 * subjects + 1])
  if known then
    used = tonumber(known) + tonumber(redis.call('HGET', KEYS[3], '$') or 0)
    age = spent_ms - redis.call('PTTL', KEYS[4 * subjects + 1])
    if used + cost > funds then refuse(5, 1, NEVER) end
  else
    unknown = unknown + 2 ^ subjects
  end
end

if unknown > 0 then return {0, 0, 0, unknown, -1, -1} end
if refused[1] == 0 and funds >= 0 then
  redis.call('HSET', KEYS[3], '$' .. lease, ARGV[8])
  redis.call('HINCRBY', KEYS[3], '$', ARGV[8])
  used = used + cost
end
local answer = {refused[1], refused[2], refused[3], 0, used, age}
for i, found in ipairs(counts) do
  local key, newest = 4 * i - 3, found.slots[#found.slots]
  if refused[1] == 0 then
    redis.call('HINCRBY', KEYS[key], 'r' .. string.format('%d', slot), 1)
    add_characters(KEYS[key], characters)
    redis.call('ZADD', KEYS[key + 1], now + lease_ms, lease)
    redis.call('HSET', KEYS[key + 2], lease, characters)
    redis.call('HINCRBY', KEYS[key + 2], '=', characters)
    redis.call('PEXPIRE', KEYS[key + 1], 2 * lease_ms)
    redis.call('PEXPIRE', KEYS[key + 2], 2 * lease_ms)
    found.requests, found.characters = found.requests + 1, found.characters + characters
    found.streams, newest = found.streams + 1, slot
    if found.committed >= 0 then found.committed = found.committed + characters end
  end
  local reset = newest and (newest + SLOTS) * SLOT - now or 0
  local past = found.soft >= 0 and found.committed > found.soft and 1 or 0
  for _, value in ipairs({found.requests, found.characters, reset, found.streams, found.committed, found.age, past}) do
    table.insert(answer, value)
  end
end
return answer
