-- Acquires a lock without waiters, finds the effect of an earlier request, confirms a grant, or
-- joins the queue. A waiter polls, and refreshes its presence, by the same request, sent again
-- under the same owner.
-- KEYS lock, fence counter, queue (LIST of owners, with 'lh:' before each), waiters (HASH of them,
--      as in native_acquire)
-- ARGV owner, lease (ms), requested fences, latest server time (us, 0: any), fence retention (ms,
--      0: forever), presence (ms, 0: does not wait), claim (ms), subscribed: 1 or 0,
--      prefix of the grant channels, 1: return the holder, -: this user may not read it
-- Returns {status, a, b, c, server time in us}
--    1, first fence, fences, n     granted; n is 1 if the queue is not empty, otherwise 0
--    0, PTTL, position, holder     held, or others are first, or left free for external clients.
--                                  Position from 0, -1: not in the queue, -2: far back. Holder: the
--                                  first 32 bits of the UUID of its client; 0: not requested or
--                                  unknown, -1: this user may not read it
--    2, PTTL, position, holder     the same, but the release may be published on the release
--                                  channel only, because the holder may be an external client. Only
--                                  for the first two waiters, and for the first waiter of a lock
--                                  that is left free: its next poll finds the new holder
--   -1                             too late: the caller has given up, nothing was changed
-- All reads and checks come before the first write, because a failed script is not rolled back.
-- Only the counter is read by the command that writes it.
local call, lock, owner, self = redis.call, KEYS[1], ARGV[1], 'lh:' .. ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return {-1, 0, 0, 0, now}
end

local function typed(reply, key, kind)
    if string.find(reply.err, 'WRONGTYPE', 1, true) and
        not string.find(reply.err, 'holds no fence', 1, true) then
        local found = redis.pcall('TYPE', key)
        return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds ' ..
            (found.ok or 'another type') .. ', a ' .. kind)
    end
    return reply
end

local ours = redis.pcall('HEXISTS', lock, owner)
if type(ours) == 'table' then
    return typed(ours, lock, 'lock is a hash')
end

--include parts/draw_fences.lua

if ours == 1 then
    -- Drawn while this owner holds the lock: higher than the fences of all earlier holders. The
    -- counter itself may still have the fence of the previous holder.
    local first, count = draw(ARGV[3], ARGV[5])
    if type(first) == 'table' then
        return typed(first, KEYS[2], 'fence counter is a string')
    end
    local left = call('PTTL', lock)
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
    if call('HDEL', KEYS[4], self) == 1 then -- it was still in the queue
        call('LREM', KEYS[3], 1, self)
    end
    return {1, first, count, call('EXISTS', KEYS[3]), now}
end

--include parts/join.lua

local left = call('PTTL', lock)
if left ~= -2 then
    local place = -1
    if waits then
        place = join()
        if place <= 0 then
            call('PEXPIRE', KEYS[3], 86400000)
            call('PEXPIRE', KEYS[4], 86400000)
        end
    end
    local status, holder = 0, 0
    local near = place == 0 or place == 1
    if ARGV[10] == '-' then
        status = near and 2 or 0
    elseif near or ARGV[10] == '1' then
        -- Every field of this library begins with the owner. Only the client's id is returned: the
        -- whole owner would permit a reentrant acquisition.
        local field = redis.pcall('HRANDFIELD', lock)
        if type(field) == 'table' then
            holder, status = -1, near and 2 or 0
        elseif field then
            if near and string.sub(field, 15, 15) ~= '8' then
                status = 2
            end
            if ARGV[10] == '1' then
                local name = string.match(field,
                    '^(%x%x%x%x%x%x%x%x)%-%x+%-%x+%-%x+%-%x+:')
                holder = tonumber(name or '0', 16)
            end
        end
    end
    return {status, left, place, holder, now}
end

local who = call('LINDEX', KEYS[3], 0)
local turns = ARGV[9]
local publish = string.find(turns, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
local first_of_open, held = 2, false
--include parts/grant.lua
--include parts/offer.lua

-- Writes the counter first: an unused fence is harmless, a lock without an owner is not.
local fence, count = draw(ARGV[3], ARGV[5])
if type(fence) == 'table' then
    return typed(fence, KEYS[2], 'fence counter is a string')
end
if who then
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], self)
end
return grant(self, ARGV[2]) or {1, fence, count, call('EXISTS', KEYS[3]), now}
