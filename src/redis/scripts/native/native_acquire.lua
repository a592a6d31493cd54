-- Acquires a lock without waiters, finds the effect of an earlier request, confirms a grant, or
-- joins the queue. A waiter polls, and refreshes its presence, by the same request, sent again
-- under the same owner.
-- KEYS lock, fence counter, queue (LIST of owners),
--      waiters (HASH owner -> 'end of presence in server us; lease, claim in ms; subscribed: 1 or
--      0', and while the lock is left free for external clients: until when, in server us), and
--      with a dead_holder_grace: record of the client's heartbeats (STRING run id of the server)
-- ARGV owner, lease (ms), requested fences, latest server time (us, 0: any), lower bound of the
--      fences (if negative, its absolute value and the clock are the bound, because the counter may
--      have gone back), presence (ms, 0: does not wait), claim (ms), subscribed: 1 or 0,
--      1: return the holder, and with a dead_holder_grace: the grace (ms)
-- Returns {status, a, b, c, server time in us}
--    1, last fence, m, fences    granted. m is the sum of 1: the queue is not empty, 2: the grace
--                                is registered. The block of fences ends at the server's clock, so
--                                it may be smaller than requested
--    0, PTTL, position, holder   held, or others are first, or left free for external clients.
--                                Position from 0, -1: not in the queue, -2: far back. Holder: the
--                                first 32 bits of the UUID of its client; 0: not requested or
--                                unknown
--    3, rest of the grace, position, holder   held by an owner with a dead_holder_grace
--    2, PTTL, position           held by an external client
--   -1                           too late: the caller has given up, nothing was changed
-- All reads and checks come before the first write, because a failed script is not rolled back.
local call, lock, owner, self = redis.call, KEYS[1], ARGV[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return {-1, 0, 0, 0, now}
end

local function typed(reply, key, kind)
    if type(reply) ~= 'table' or not reply.err then
        return reply
    end
    if string.find(reply.err, 'not an integer', 1, true) or
        string.find(reply.err, 'would overflow', 1, true) then
        return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds no fence')
    end
    if string.find(reply.err, 'WRONGTYPE', 1, true) then
        local found = redis.pcall('TYPE', key)
        return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds ' ..
            (found.ok or 'another type') .. ', ' .. kind .. ' is a string')
    end
    return reply
end

local value = typed(redis.pcall('GET', lock), lock, 'a lock')
if type(value) == 'table' then
    return value
end
local ours = value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|'

--include draw_block.lua

-- The run id of this server, if the owner or the holder has a dead_holder_grace; nil if this user
-- may not read it. A record from before a restart, or from another server, does not count.
local flags = value and not ours and string.find(value, '|', 4, true)
local grace = flags and string.sub(KEYS[2], -5) == 'fence' and string.sub(value, 1, 3) == 'lh:' and
    string.match(value, 'g(%d+)', flags)
local run
if grace or ARGV[10] and (ours or not value) then
    local reply = redis.pcall('INFO', 'server')
    run = type(reply) == 'string' and string.match(reply, 'run_id:(%x+)')
end
-- The TTL of a record after a heartbeat. So the rest of the TTL shows the age of the record.
local kept = 120000

if ours then
    -- Drawn while this owner holds the lock: higher than the fences of all earlier holders.
    local last, count = draw(ARGV[3], ARGV[5])
    if type(last) ~= 'number' then
        return typed(last, KEYS[2], 'a fence counter')
    end
    local left = call('PTTL', lock)
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
    if call('HDEL', KEYS[4], owner) == 1 then -- it was still in the queue
        call('LREM', KEYS[3], 1, owner)
    end
    local promised = ''
    -- Without a registered grace the owner has none, even if an earlier request of it, without an
    -- answer, wrote one.
    if (ARGV[10] or string.find(value, 'g', #owner + 1, true)) and
        not string.find(value, 'e', #owner + 1, true) then
        if run and not redis.pcall('SET', KEYS[5], run, 'PX', kept).err then
            promised = 'g' .. ARGV[10]
        end
        flags = string.gsub(string.sub(value, #owner + 2), 'g%d*', '') .. promised
        call('SET', lock, flags == '' and owner or owner .. '|' .. flags, 'KEEPTTL')
    end
    return {1, last, (string.find(value, 'w', #owner + 1, true) and 1 or 0) +
        (promised == '' and 0 or 2), count, now}
end

-- The rest of the holder's grace, in ms; nil if it has none, or if this is unknown. For a holder
-- without a record, the grace begins now.
local silence
if grace and run then
    local record = string.sub(KEYS[2], 1, -6) .. 'alive:' .. string.match(value, '^lh:([^:|]*)')
    local known = redis.pcall('GET', record)
    local left = known == run and call('PTTL', record) or -1
    if left >= 0 then
        silence = grace - (kept - left)
    elseif type(known) ~= 'table' then
        redis.pcall('SET', record, run, 'PX', kept)
        silence = grace + 0
    end
    if silence and silence <= 0 then
        value = nil -- from here on the lock counts as free
    end
end

--include ../parts/join.lua

if value then
    local known = string.sub(value, 1, 3) == 'lh:'
    local place = -1
    if waits then
        place = join()
        if place <= 0 then
            call('PEXPIRE', KEYS[3], 86400000)
            call('PEXPIRE', KEYS[4], 86400000)
        end
        -- Not for a value of another library, which compares it byte for byte at a release.
        if known then
            if not flags then
                call('SET', lock, value .. '|w', 'KEEPTTL')
            elseif not string.find(value, 'w', flags, true) then
                call('SET', lock, value .. 'w', 'KEEPTTL')
            end
        end
    end
    local left = call('PTTL', lock)
    if not known then
        return {2, left, place, 0, now}
    end
    local status = 0
    if silence and (left < 0 or silence < left) then
        status = 3
        left = silence
    end
    local holder = 0
    if ARGV[9] == '1' then
        local name = string.match(value, '^lh:(%x%x%x%x%x%x%x%x)%-')
        holder = tonumber(name or '0', 16)
    end
    return {status, left, place, holder, now}
end

local who = call('LINDEX', KEYS[3], 0)
local root, slot = string.match(KEYS[2], '^(.*)fence(.*)$') -- slot: ':{tag}' in a cluster
local turns, publish = root .. 'turn' .. slot .. ':', slot == '' and 'PUBLISH' or 'SPUBLISH'
local first_of_open = 0
--include grant.lua
--include ../parts/offer.lua

-- Writes the counter first: an unused fence is harmless, a lock without an owner is not.
local last, count = draw(ARGV[3], ARGV[5])
if type(last) ~= 'number' then
    return typed(last, KEYS[2], 'a fence counter')
end
if who then
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], owner)
    who = call('EXISTS', KEYS[3]) == 1
end
local promised = ''
if run and ARGV[10] and not redis.pcall('SET', KEYS[5], run, 'PX', kept).err then
    promised = 'g' .. ARGV[10]
end
flags = (who and 'w' or '') .. promised
call('SET', lock, flags == '' and owner or owner .. '|' .. flags, 'PX', ARGV[2])
return {1, last, (who and 1 or 0) + (promised == '' and 0 or 2), count, now}
