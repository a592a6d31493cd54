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
local status, who = 1, nil
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
    who = call('LINDEX', KEYS[3], 0)
    --include ../parts/left_free.lua
    if open then
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
--include ../parts/join_next.lua

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

who = call('LINDEX', KEYS[3], 0)
if who and next ~= '' then
    join()
end
local root, slot = string.match(KEYS[2], '^(.*)fence(.*)$') -- slot: ':{tag}' in a cluster
local turns, publish = root .. 'turn' .. slot .. ':', slot == '' and 'PUBLISH' or 'SPUBLISH'
local turn = status == 1 and ARGV[11] + 0 or 0
local next_lease, fences, bound = ARGV[4], ARGV[5], ARGV[7]
--include draw_block.lua
--include grant.lua
--include ../parts/pass_on.lua
if freed and value then
    call('DEL', lock)
end
return {status, joined, a, b, now}
