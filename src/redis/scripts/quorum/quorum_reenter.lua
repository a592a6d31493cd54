-- Acquires a held lock reentrantly. Does not extend it: only a minority of the members may have it.
-- KEYS lock, entries, record of the member
-- ARGV owner, lease (ms), latest server time (us, 0: any), entry
-- Returns {status, server time in us}: 1 acquired, -1 too late, -2 the owner does not hold the lock
local call, lock, owner = redis.call, KEYS[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[3] ~= '0' and now > ARGV[3] + 0 then
    return {-1, now}
end
if call('GET', lock) ~= owner then
    return {-2, now}
end
local longest = call('HGET', KEYS[3], 'lease')
if longest and ARGV[2] + 0 > longest + 0 then
    call('HSET', KEYS[3], 'lease', ARGV[2])
end
if call('HGET', KEYS[2], 'owner') ~= owner then
    call('DEL', KEYS[2]) -- the entries of an earlier owner
    call('HSET', KEYS[2], 'owner', owner, 'e:', 1)
end
call('HSET', KEYS[2], 'e:' .. ARGV[4], 1)
local left = call('PTTL', lock)
if left >= 0 then
    call('PEXPIRE', KEYS[2], left)
end
return {1, now}
