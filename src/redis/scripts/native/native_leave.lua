-- Leaves a lock, or the line for it. Gives the lock to the first who waits and is there, or frees
-- it. The one who leaves may go to the end of the line in the same step, under its next owner.
-- KEYS lock, fence counter, line, waiters, entries
-- ARGV owner, entry ('': the first), next owner ('': none), and of that one: lease (ms), fences
--      wanted, latest server time (us, 0: none), the fences granted are larger than this (as in
--      native_acquire), presence (ms), claim (ms), listens;
--      foreign turn (ms, 0: none): the lock is left free for so long, for those who do not know
--      the line
-- Returns {status, next, a, b, server time in us}
--    1   freed
--    2   left, others are in under the same owner
--    3   was not in but in line, and is not any more
--    4   given to the first in line
--    5   left free; the first in line, or the next owner, has it when the foreign turn is over
--    0   not in
--   next: 0 has not joined; 1 granted, a: the last fence of its block, b: how many are in it;
--   2 in line, a: PTTL, b: place
local call, lock, owner, next = redis.call, KEYS[1], ARGV[1], ARGV[3]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local value = call('GET', lock)
local status = 1
if value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|' then
    if #value > #owner and string.find(value, 'e', #owner + 1, true) then
        -- The first has an entry of its own from the second on.
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
    next = '' -- a repetition joins nobody: the next owner may have come and gone since
    -- Left free for those who do not know the line, as in native_acquire: whoever is not the first
    -- in it ends nobody's turn by leaving.
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
--include ../parts/join_line.lua

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
local slot = string.sub(KEYS[2], 16) -- ':{tag}' in a cluster
local publish = slot == '' and 'PUBLISH' or 'SPUBLISH'
local passed = 0
-- Left free for those who do not know the line; what is kept of the first in it says until when.
-- Without memory for that there is no such turn.
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
        -- Told before it is done: the message is only a reason to ask. When nobody hears it, nobody
        -- is there.
        there = there and there + 0 >= now and
            (redis.pcall(publish, 'leasehold:turn' .. slot .. ':' .. client,
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
        -- Whoever looks next goes on with those who are left.
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
    if who then -- the counter is refused: it stays in line, and hears why when it asks
        place = 0
    end
end
if value then
    call('DEL', lock)
end
return {status, next ~= '' and who and 2 or 0, 0, place, now}
