-- Acquires a lock without waiters, finds the effect of an earlier acquire, or acquires a held lock
-- reentrantly. For the queue: queue_acquire.
-- KEYS lock, fence counter, and unless reentrant: queue
-- ARGV owner, lease (ms), requested fences, latest server time (us, 0: any), fence retention (ms,
--      0: forever),
--      and if needed (each argument costs the server about 0.1 us):
--      entry ('': not reentrant), 1: return the holder
-- Returns usually a number, which is twice the server's time: granted with all requested fences, of
-- which this is the last. Otherwise {status, a, b, server time in us}
--    1, first fence, fences   granted
--    0, PTTL, holder          held by another owner. Holder: the first 32 bits of the UUID of its
--                             client, 0: not requested or unknown, -1: this user may not read it
--   -1                        too late: the caller has given up, nothing was changed
--   -2                        not reentrant: the owner does not hold the lock
--   -3                        free, but the queue is not empty; nothing was changed
-- All reads and checks come before the first write, because a failed script is not rolled back.
-- Only the counter is read by the command that writes it.
local call, pcall, lock, owner = redis.call, redis.pcall, KEYS[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return {-1, 0, 0, now}
end

-- Usually neither key exists, which takes one call to find.
local left = -2
if call('EXISTS', lock, KEYS[3] or lock) ~= 0 then
    left = call('PTTL', lock)
    if left == -2 and KEYS[3] then
        return {-3, 0, 0, now}
    end
end
local ours = false
if left ~= -2 then
    local entered = pcall('HEXISTS', lock, owner)
    if type(entered) == 'table' then
        if string.find(entered.err, 'WRONGTYPE', 1, true) then
            local kind = pcall('TYPE', lock)
            return redis.error_reply('WRONGTYPE the key ' .. lock .. ' holds ' ..
                (kind.ok or 'another type') .. ', a lock is a hash')
        end
        return entered
    end
    ours = entered == 1
end

if ARGV[6] and ARGV[6] ~= '' then
    if not ours then
        return {-2, 0, 0, now}
    end
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
    -- The marker makes the entry idempotent: a repeated request counts once.
    local marker = owner .. '/' .. ARGV[6]
    if call('HSET', lock, marker, 1) == 1 then
        local count = pcall('HINCRBY', lock, owner, 1)
        if type(count) == 'table' then
            -- This user may not run it. A marker without its count would prevent the release of the
            -- lock.
            call('HDEL', lock, marker)
            return count
        end
    end
    return {1, 0, 0, now}
end

if left ~= -2 and not ours then
    local holder = 0
    if ARGV[7] == '1' then
        -- Every field of this library begins with the owner. Only the client's id is returned: the
        -- whole owner would permit a reentrant acquisition.
        local field = pcall('HRANDFIELD', lock)
        if type(field) == 'table' then
            holder = -1
        elseif field then
            local name = string.match(field, '^(%x%x%x%x%x%x%x%x)%-%x+%-%x+%-%x+%-%x+:')
            holder = tonumber(name or '0', 16)
        end
    end
    return {0, left, holder, now}
end

-- The server's clock, two fences a microsecond, is the floor, so that the fence rises even if the
-- counter was lost. For the same reason a block ends at that clock and reaches back to the previous
-- grant: after a loss of data, a later fence would be smaller than one from the future. It reaches
-- back by at most 5 ms (10,000 fences). A server that restarts with an older counter was away for
-- longer, so its blocks begin above all fences that were granted before. A double is exact for such
-- numbers until the year 2112.
local floor = now * 2
-- Writes the counter first: an unused fence is harmless, a lock without an owner is not. An owner
-- that has the lock draws again, because it may have got the lock from the queue, without a fence.
local last, stored = 0, nil
if ARGV[5] ~= '0' then
    stored = pcall('SET', KEYS[2], string.format('%d', floor), 'PX', ARGV[5], 'GET')
else
    stored = pcall('SET', KEYS[2], string.format('%d', floor), 'GET')
end
if type(stored) == 'table' then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
        local kind = pcall('TYPE', KEYS[2])
        return redis.error_reply('WRONGTYPE the key ' .. KEYS[2] .. ' holds ' ..
            (kind.ok or 'another type') .. ', a fence counter is a string')
    end
    return stored
end
if stored then
    last = tonumber(stored)
    -- Not an integer, or one to which a double cannot add 1.
    if not last or last % 1 ~= 0 or last >= 9007199254740991 then
        call('SET', KEYS[2], stored)
        return redis.error_reply('WRONGTYPE the key ' .. KEYS[2] .. ' holds no fence')
    end
end

local first, count = floor, 1
if last >= floor then
    first = last + 1
elseif stored and ARGV[3] ~= '1' then
    count = math.min(tonumber(ARGV[3]), floor - last, 10000)
    first = floor - count + 1
end

if first > floor then
    local top = string.format('%d', first)
    if ARGV[5] ~= '0' then
        call('SET', KEYS[2], top, 'PX', ARGV[5])
    else
        call('SET', KEYS[2], top)
    end
end
if ours then
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
else
    call('HSET', lock, owner, '1')
    local expires = pcall('PEXPIRE', lock, ARGV[2])
    if expires ~= 1 then
        -- This user may not run it. A lock that never expires must not remain.
        call('DEL', lock)
        return expires
    end
end
-- A number, because a list costs the server a microsecond more.
if first + count == floor + 1 and count == ARGV[3] + 0 then
    return floor
end
return {1, first, count, now}
