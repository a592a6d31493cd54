-- Acquires a free lock, or extends one of the same owner, and accepts the offered fences if they
-- are larger than all earlier ones. With "only ours" it acquires nothing.
-- KEYS lock, largest fence of the name, record of the member
-- ARGV owner, lease (ms), first offered fence, number of fences, latest server time (us, 0: any),
--      epoch, fence retention (ms, 0: forever), 1: only ours, 1: return the holder
-- Returns {status, largest accepted fence, a, b, server time in us}
--    1              the owner holds the lock, and the fences are accepted
--    2              the owner holds the lock, but the fences are not larger than an earlier one
--    0, _, PTTL, holder  held by another owner. Holder: the first 32 bits of the UUID of its
--                   client; 0: not requested or unknown. With "only ours": also if it is free
--   -1              too late: the caller has given up
--   -3              not a member: it may have lost its grants
--   -4, _, ms       not yet: a grant that it may have lost may still be valid
--   -5, _, epoch    the epoch of the request is older than that of this member
--   -6              the fences are more than a day ahead of this server's clock
-- The last five change nothing. All reads and checks come before the first write.
local call, lock, owner, member = redis.call, KEYS[1], ARGV[1], KEYS[3]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[5] ~= '0' and now > ARGV[5] + 0 then
    return {-1, 0, 0, 0, now}
end
local known = call('HMGET', member, 'until', 'epoch', 'floor', 'top', 'lease', 'keep', 'mark',
    'turned')
if not known[1] then
    return {-3, 0, 0, 0, now}
end
local ms = math.floor(now / 1000)
if ms < known[1] + 0 then
    return {-4, 0, known[1] - ms, 0, now}
end
local epoch, asked = known[2] + 0, ARGV[6] + 0
if asked < epoch then
    return {-5, 0, epoch, 0, now}
end
local first, count = ARGV[3] + 0, ARGV[4] + 0
if first + count - 1 > now + 86400000000 then
    return {-6, 0, 0, 0, now}
end

local function typed(reply, key, kind)
    if type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true) then
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
local stored = typed(redis.pcall('GET', KEYS[2]), KEYS[2], 'a fence')
if type(stored) == 'table' then
    return stored
end
if stored and not string.find(stored, '^%d+$') then
    return redis.error_reply('WRONGTYPE the key ' .. KEYS[2] .. ' holds no fence')
end

-- A name whose fence has expired begins above all fences, of any name, that are at least as old.
-- For that, the largest fence is marked once in each third of the retention, and the previous mark
-- becomes the floor.
local floor, top = known[3] + 0, known[4] + 0
local keep, retention = (known[6] or 0) + 0, ARGV[7] + 0
local notes = {}
if retention ~= 0 and (keep == 0 or retention < keep) then
    keep = retention
    notes = {'keep', ARGV[7]}
end
if keep ~= 0 then
    local age = ms - (known[8] or 0)
    if age < 0 or 3 * age >= 2 * keep or not known[7] then
        floor = top
    elseif 3 * age >= keep then
        floor = math.max(floor, known[7] + 0)
    else
        age = nil
    end
    if age then
        for _, each in ipairs({'floor', string.format('%.0f', floor), 'mark', known[4], 'turned',
            string.format('%.0f', ms)}) do
            notes[#notes + 1] = each
        end
    end
end
local last = floor
if stored and stored + 0 > floor then
    last = stored + 0
end

if value ~= owner and (value or ARGV[8] == '1') then
    local holder, left = 0, -2
    if value then
        left = call('PTTL', lock)
        if ARGV[9] == '1' then
            holder = tonumber(string.match(value, '^lhq:(%x%x%x%x%x%x%x%x)%-') or '0', 16)
        end
    end
    return {0, last, left, holder, now}
end

-- Writes the fence first: an unused fence is harmless, a lock without an owner is not.
if asked > epoch then
    notes[#notes + 1] = 'epoch'
    notes[#notes + 1] = ARGV[6]
end
if ARGV[2] + 0 > known[5] + 0 then
    notes[#notes + 1] = 'lease'
    notes[#notes + 1] = ARGV[2]
end
local status = 2
if first > last then
    status = 1
    last = first + count - 1
    local text = string.format('%.0f', last)
    if last > top then
        notes[#notes + 1] = 'top'
        notes[#notes + 1] = text
    end
    if ARGV[7] ~= '0' then
        call('SET', KEYS[2], text, 'PX', ARGV[7])
    else
        call('SET', KEYS[2], text)
    end
end
if #notes > 0 then
    call('HSET', member, unpack(notes))
end
if value then
    local left = call('PTTL', lock)
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
else
    call('SET', lock, owner, 'PX', ARGV[2])
end
return {status, last, 0, 0, now}
