-- Releases a lock, or removes the owner from its queue. Grants a released lock to the first present
-- waiter, or frees it. In the same step the client may join the queue under its next owner.
-- KEYS lock, fence counter, queue, waiters
-- ARGV owner, entry ('': the first), release channel, prefix of the grant channels,
--      external time (ms): time for which the lock is left free for external clients; 0: the script
--      decides when to do so,
--      and if there is one: next owner, its lease (ms), requested fences, latest server time (us,
--      0: any), fence retention (ms, 0: forever), presence (ms), claim (ms), subscribed: 1 or 0
-- Returns {status, receivers, next, a, b, server time in us}
--    1   freed; receivers: subscribers of the release channel, -1: this user may not publish
--    2   released, but other entries of the same owner hold the lock
--    3   did not hold the lock, and was removed from the queue
--    4   granted to the first waiter
--    5   left free; the first waiter, or the next owner, gets it after that time
--    0   did not hold the lock
--   next: 0 has not joined; 1 granted, a: first fence, b: number of fences; 2 in the queue,
--   a: PTTL, b: position
local call, lock, owner, next = redis.call, KEYS[1], ARGV[1], ARGV[6] and 'lh:' .. ARGV[6] or ''
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local count = tonumber(call('HGET', lock, owner) or '')
local status, who = 1, nil
if count then
    if ARGV[2] ~= '' then
        if call('HDEL', lock, owner .. '/' .. ARGV[2]) == 0 then
            return {0, 0, 0, 0, 0, now}
        end
    elseif count <= call('HLEN', lock) - 1 then
        -- Only entries with markers are left: the first one was released before, and this is its
        -- repetition.
        return {0, 0, 0, 0, 0, now}
    end
    if count > 1 then
        call('HINCRBY', lock, owner, -1)
        status = 2
    end
else
    status = 0
    if ARGV[2] == '' and call('HDEL', KEYS[4], 'lh:' .. owner) == 1 then
        call('LREM', KEYS[3], 1, 'lh:' .. owner)
        status = 3
    end
    if call('EXISTS', lock) == 1 then
        return {status, 0, 0, 0, 0, now}
    end
    next = '' -- a repeated release adds no next owner: it may have left since
    who = call('LINDEX', KEYS[3], 0)
    -- Left free for external clients, as in queue_acquire. A waiter that leaves the queue ends this
    -- only if it was the first.
    --include parts/left_free.lua
    if open then
        return {status, 0, 0, 0, 0, now}
    end
end
if next ~= '' and ARGV[9] ~= '0' and now > ARGV[9] + 0 then
    next = ''
end

local place = -1
local function entry()
    return string.format('%.0f', now + ARGV[11] * 1000) .. ' ' .. ARGV[7] .. ' ' .. ARGV[12] ..
        ' ' .. ARGV[13]
end
--include parts/join_next.lua

if status == 2 then
    if next ~= '' then
        join()
    end
    if next == '' then
        return {2, 0, 0, 0, 0, now}
    end
    return {2, 0, 2, call('PTTL', lock), place, now}
end

who = call('LINDEX', KEYS[3], 0)
if who and next ~= '' then
    join()
end
local turns = ARGV[4]
local publish = string.find(turns, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'

-- External clients wait for releases on the release channel, where a grant to the first waiter is
-- not published. If the channel has subscribers, the lock is left free for them as often as if they
-- were one more waiter, and at least once in 16 times: with n waiters, once in n + 1 times, which
-- is the case if chance * (n + 1) < 16.
local turn = 0
if status == 1 and (who or next ~= '') then
    turn = ARGV[5] + 0
    if turn > 0 then
        redis.pcall(publish, ARGV[3], '0')
    else
        local chance = now % 16
        if (chance == 0 or
                chance < 8 and not call('LINDEX', KEYS[3], math.ceil(16 / chance) - 2)) and
            redis.pcall(publish, ARGV[3], '0') ~= 0 then
            turn = 5
        end
    end
end
local held, next_lease, fences, bound, heard = count, ARGV[7], ARGV[8], ARGV[10], 0
--include parts/draw_fences.lua
--include parts/grant.lua
--include parts/pass_on.lua
if freed then
    if held then
        call('DEL', lock)
    end
    -- pcall: without permission to publish, the release still counts, and waiters poll.
    heard = redis.pcall(publish, ARGV[3], '0')
    heard = type(heard) == 'number' and heard or -1
end
return {status, heard, joined, a, b, now}
