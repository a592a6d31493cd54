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
local who = call('LINDEX', KEYS[3], 0)
local status = 1
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
    local first = who and call('HGET', KEYS[4], who)
    local until_there, open
    if first then
        until_there, open = string.match(first, '^(%d+) %d+ %d+ %d (%d+)$')
    end
    if open and until_there + 0 >= now and open + 0 > now and open - now <= 1000000 then
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
--include parts/join_queue.lua

if status == 2 then
    if next ~= '' then
        join()
    end
    if next == '' then
        return {2, 0, 0, 0, 0, now}
    end
    return {2, 0, 2, call('PTTL', lock), place, now}
end

if who and next ~= '' then
    join()
end
local publish = string.find(ARGV[4], '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
local function free()
    if count then
        call('DEL', lock)
    end
    -- pcall: without permission to publish, the release still counts, and waiters poll.
    local heard = redis.pcall(publish, ARGV[3], '0')
    return type(heard) == 'number' and heard or -1
end

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
-- Leaves the lock free for external clients. The record of the first waiter has the end of this
-- time. Does nothing if the server has no memory for that.
local function leave_free(first, waiter)
    if turn == 0 then
        return false
    end
    waiter = string.match(waiter, '^%d+ %d+ %d+ %d') .. ' ' ..
        string.format('%.0f', now + turn * 1000)
    if type(redis.pcall('HSET', KEYS[4], first, waiter)) == 'table' then
        return false
    end
    call('DEL', lock)
    return true
end
local passed = 0
while who and who ~= next do
    local waiter = call('HGET', KEYS[4], who)
    local there, lease, claim, listens
    if waiter then
        there, lease, claim, listens = string.match(waiter, '^(%d+) (%d+) (%d+) (%d)')
        -- Published before the grant, because it is only a reason to poll. Without a subscriber the
        -- waiter is absent.
        there = there and there + 0 >= now and
            (redis.pcall(publish, ARGV[4] .. (string.match(who, '^lh:([^:]*)') or ''),
                who .. ' ' .. lock) ~= 0 or
                listens == '0')
        if there and leave_free(who, waiter) then
            return {5, 0, next ~= '' and 2 or 0, turn, place, now}
        end
    end
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], who)
    place = place > 0 and place - 1 or place
    if waiter and there then
        local ttl = math.min(lease + 0, claim + 0)
        if count then
            call('DEL', lock)
        end
        call('HSET', lock, string.sub(who, 4), '1')
        local expires = redis.pcall('PEXPIRE', lock, ttl)
        if expires ~= 1 then
            -- This user may not run it. A lock that never expires must not remain.
            call('DEL', lock)
        end
        return {status == 1 and 4 or status, 0, next ~= '' and 2 or 0, ttl, place, now}
    end
    passed = passed + 1
    who = call('LINDEX', KEYS[3], 0)
    if passed == 100 and who then
        -- The next poll continues with the others.
        return {status, free(), next ~= '' and 2 or 0, 0, place, now}
    end
end
if next ~= '' and turn ~= 0 then
    if not who then
        join()
        who = next ~= '' and next or nil
    end
    if who and leave_free(next, entry()) then
        return {5, 0, 2, turn, 0, now}
    end
end
if next ~= '' then
    --include parts/draw_fences.lua
    local first, fences = draw(KEYS[2], ARGV[8], ARGV[10])
    if type(first) == 'number' then
        if who then
            call('LPOP', KEYS[3])
            call('HDEL', KEYS[4], next)
        end
        call('DEL', lock)
        call('HSET', lock, ARGV[6], '1')
        if redis.pcall('PEXPIRE', lock, ARGV[7]) == 1 then
            return {1, 0, 1, first, fences, now}
        end
        return {1, free(), 0, 0, 0, now}
    end
    if who then -- no fence: it stays in the queue, and its poll reports why
        place = 0
    end
end
return {status, free(), next ~= '' and who and 2 or 0, 0, place, now}
