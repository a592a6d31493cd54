-- Takes a free lock, repeats an acquire whose reply was lost, or enters a held lock again.
-- KEYS lock, fence counter
-- ARGV owner, lease (ms), fences wanted, latest server time (us, 0: none), fence retention (ms, 0: for ever),
--      entry ('' takes the lock, anything else enters it again under that name)
-- Returns {status, a, b, server time in us}
--    1, first fence, fences   granted
--    0, PTTL                  held by another owner
--   -1                        too late: the caller has given up, nothing was touched
--   -2                        cannot enter again: the owner is not in
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local latest = tonumber(ARGV[4])
if latest > 0 and now > latest then
    return {-1, 0, 0, now}
end

local owner, lease = ARGV[1], tonumber(ARGV[2])
local left = redis.call('PTTL', KEYS[1])
local ours = left ~= -2 and redis.call('HEXISTS', KEYS[1], owner) == 1

if ARGV[6] ~= '' then
    if not ours then
        return {-2, 0, 0, now}
    end
    -- The marker makes the entry idempotent: a request that runs twice counts once.
    if redis.call('HSETNX', KEYS[1], owner .. '/' .. ARGV[6], 1) == 1 then
        redis.call('HINCRBY', KEYS[1], owner, 1)
    end
    if left < lease then
        redis.call('PEXPIRE', KEYS[1], lease)
    end
    return {1, 0, 0, now}
end

if left ~= -2 and not ours then
    return {0, left, 0, now}
end

local stored = redis.call('GET', KEYS[2])
local last = 0
if stored then
    last = tonumber(stored)
    if not last then
        return redis.error_reply('WRONGTYPE the fence counter does not hold a number')
    end
end

if ours then
    if left < lease then
        redis.call('PEXPIRE', KEYS[1], lease)
    end
    -- The block was reserved for this owner by the first run; its end is a fence that nobody else can have.
    if stored then
        return {1, last, 1, now}
    end
else
    redis.call('HSET', KEYS[1], owner, 1)
    redis.call('PEXPIRE', KEYS[1], lease)
end

-- The server's clock is the floor, so that the fence rises also when the counter was lost. A block ends at most
-- a millisecond ahead of that clock, or a counter that outran it would fall back when the data is lost.
local first = last + 1
if first < now then
    first = now
end
local count = tonumber(ARGV[3])
local ahead = now + 1000 - first + 1
if count > ahead then
    count = ahead
end
if count < 1 then
    count = 1
end
local retention = tonumber(ARGV[5])
if retention > 0 then
    redis.call('SET', KEYS[2], first + count - 1, 'PX', retention)
else
    redis.call('SET', KEYS[2], first + count - 1)
end
return {1, first, count, now}
