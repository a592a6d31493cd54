-- Acquires a held lock reentrantly.
-- KEYS lock, entries
-- ARGV owner, lease (ms), latest server time (us, 0: any), entry
-- Returns {status, 0, 0, 0, server time in us}: 1 acquired, -1 too late, -2 the owner does not hold
--   the lock
local call, lock, owner = redis.call, KEYS[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[3] ~= '0' and now > ARGV[3] + 0 then
    return {-1, 0, 0, 0, now}
end
local value = call('GET', lock)
if not (value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|') then
    return {-2, 0, 0, 0, now}
end
-- The owner's grace ends: the new entry may be of another client, which does not have it.
local flags = string.gsub(string.sub(value, #owner + 2), 'g%d*', '')
if string.find(flags, 'e', 1, true) then
    call('HSET', KEYS[2], ARGV[4], 1)
else
    call('DEL', KEYS[2]) -- the entries of an earlier owner
    call('HSET', KEYS[2], '', 1, ARGV[4], 1)
    call('SET', lock, owner .. '|' .. flags .. 'e', 'KEEPTTL')
end
local left = call('PTTL', lock)
if left >= 0 then -- otherwise an external client removed the TTL
    if left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
        left = ARGV[2]
    end
    call('PEXPIRE', KEYS[2], left)
end
return {1, 0, 0, 0, now}
