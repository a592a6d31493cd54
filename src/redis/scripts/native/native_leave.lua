-- Releases a lock, or removes the owner from its queue. Grants a released lock to the first present
-- waiter, or frees it. In the same step the client may join the queue under its next owner.
-- KEYS lock, fence counter, queue, waiters, entries
-- ARGV owner, entry ('': the first), next owner ('': none), and of the next owner: lease (ms),
--      requested fences, latest server time (us, 0: any), lower bound of the fences (as in
--      native_acquire), presence (ms), claim (ms), subscribed: 1 or 0;
--      external time (ms, 0: none): time for which the lock is left free for external clients
-- Returns {status, next, a, b, server time in us}
--    1   freed
--    2   released, but other entries of the same owner hold the lock
--    3   did not hold the lock, and was removed from the queue
--    4   granted to the first waiter
--    5   left free; the first waiter, or the next owner, gets it after that time
--    0   did not hold the lock
--   next: 0 has not joined; 1 granted, a: its last fence, b: number of its fences;
--   2 in the queue, a: PTTL, b: position
local call, lock, owner, next = redis.call, KEYS[1], ARGV[1], ARGV[3]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local value = call('GET', lock)
local status = 1
if value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|' then
    if #value > #owner and string.find(value, 'e', #owner + 1, true) then
        -- The second entry lists the first one, too.
        if call('HDEL', KEYS[5], ARGV[2]) == 0 then
            return {0, 0, 0, 0, now}
        end
        if call('EXISTS', KEYS[5]) == 1 then
            status = 2
        end
    elseif ARGV[2] ~= '' then
        return {0, 0, 0, 0, now}
    end
else
    status = 0
    if ARGV[2] == '' and call('HDEL', KEYS[4], owner) == 1 then
        call('LREM', KEYS[3], 1, owner)
        status = 3
    end
    if value then
        return {status, 0, 0, 0, now}
    end
    next = '' -- a repeated release adds no next owner: it may have left since
    -- Left free for external clients, as in native_acquire. A waiter that leaves the queue ends
    -- this only if it was the first.
    local first = call('LINDEX', KEYS[3], 0)
    local known = first and call('HGET', KEYS[4], first)
    local until_there, open
    if known then
        until_there, open = string.match(known, '^(%d+) %d+ %d+ %d (%d+)$')
    end
    if open and until_there + 0 >= now and open + 0 > now and open - now <= 1000000 then
        return {status, 0, 0, 0, now}
    end
end
if next ~= '' and ARGV[6] ~= '0' and now > ARGV[6] + 0 then
    next = ''
end

local place = -1
local function entry()
    return string.format('%.0f', now + ARGV[8] * 1000) .. ' ' .. ARGV[4] .. ' ' .. ARGV[9] .. ' ' ..
        ARGV[10]
end
--include ../parts/join_queue.lua

if status == 2 then
    if next ~= '' then
        join()
    end
    if next == '' then
        return {2, 0, 0, 0, now}
    end
    if not string.find(value, 'w', #owner + 1, true) then
        call('SET', lock, value .. 'w', 'KEEPTTL')
    end
    return {2, 2, call('PTTL', lock), place, now}
end

local who = call('LINDEX', KEYS[3], 0)
if who and next ~= '' then
    join()
end
local root, slot = string.match(KEYS[2], '^(.*)fence(.*)$') -- slot: ':{tag}' in a cluster
local publish = slot == '' and 'PUBLISH' or 'SPUBLISH'
local passed = 0
-- Leaves the lock free for external clients. The record of the first waiter has the end of this
-- time. Does nothing if the server has no memory for that.
local function leave_free(first, waiter)
    if ARGV[11] == '0' or status ~= 1 then
        return false
    end
    waiter = string.match(waiter, '^%d+ %d+ %d+ %d') .. ' ' ..
        string.format('%.0f', now + ARGV[11] * 1000)
    if type(redis.pcall('HSET', KEYS[4], first, waiter)) == 'table' then
        return false
    end
    call('DEL', lock)
    return true
end
while who and who ~= next do
    local waiter = call('HGET', KEYS[4], who)
    local there, lease, claim, listens
    if waiter then
        there, lease, claim, listens = string.match(waiter, '^(%d+) (%d+) (%d+) (%d)')
        local client = string.match(who, '^lh:([^:]*)')
        -- Published before the grant, because it is only a reason to poll. Without a subscriber the
        -- waiter is absent.
        there = there and there + 0 >= now and
            (redis.pcall(publish, root .. 'turn' .. slot .. ':' .. client,
                who .. ' ' .. lock) ~= 0 or
                listens == '0')
        if there and leave_free(who, waiter) then
            return {5, next ~= '' and 2 or 0, ARGV[11] + 0, place, now}
        end
    end
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], who)
    place = place > 0 and place - 1 or place
    if waiter and there then
        local ttl = math.min(lease + 0, claim + 0)
        local more = call('EXISTS', KEYS[3]) == 1
        call('SET', lock, more and who .. '|w' or who, 'PX', ttl)
        return {status == 1 and 4 or status, next ~= '' and 2 or 0, ttl, place, now}
    end
    passed = passed + 1
    who = call('LINDEX', KEYS[3], 0)
    if passed == 100 and who then
        -- The next poll continues with the others.
        if value then
            call('DEL', lock)
        end
        return {status, next ~= '' and 2 or 0, 0, place, now}
    end
end
if next ~= '' and ARGV[11] ~= '0' then
    if not who then
        join()
        who = next ~= '' and next or nil
    end
    if who and leave_free(next, entry()) then
        return {5, 2, ARGV[11] + 0, 0, now}
    end
end
if next ~= '' then
    local last = redis.pcall('INCRBY', KEYS[2], ARGV[5])
    if type(last) == 'number' then
        -- As in native_acquire.
        local wanted, clock, floor = ARGV[5] + 0, now * 2, ARGV[7] + 0
        local begin = last - wanted
        if floor <= 0 then
            local was_there = begin > 0 and begin >= -floor
            begin = math.max(begin, -floor, was_there and clock - wanted or clock)
        elseif begin < floor then
            begin = math.max(floor, clock)
        end
        local count = math.max(1, math.min(wanted, clock - begin))
        if begin + count ~= last then
            last = begin + count
            call('SET', KEYS[2], string.format('%.0f', last))
        end
        if who then
            call('LPOP', KEYS[3])
            call('HDEL', KEYS[4], next)
        end
        call('SET', lock, next, 'PX', ARGV[4])
        return {1, 1, last, count, now}
    end
    if who then -- no fence: it stays in the queue, and its poll reports why
        place = 0
    end
end
if value then
    call('DEL', lock)
end
return {status, next ~= '' and who and 2 or 0, 0, place, now}
