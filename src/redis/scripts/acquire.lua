-- Takes a free lock that nobody waits for, repeats an acquire whose reply was lost, or enters a
-- held lock again. For the line there is line_acquire.
-- KEYS lock, fence counter, and to take it: line
-- ARGV owner, lease (ms), fences wanted, latest server time (us, 0: none), fence retention (ms, 0:
--      for ever),
--      and where it is needed (each argument costs the server some 0.1 us):
--      entry ('' takes the lock, anything else enters it again under that name),
--      1: say who holds it
-- Returns, mostly, a number: granted all fences wanted, the last of which is this, twice the
-- server's time. Else {status, a, b, server time in us}
--    1, first fence, fences   granted
--    0, PTTL, holder          held by another owner. The first 32 bits of the UUID of its client,
--                             0: not asked or not known, -1: this user may not look
--   -1                        too late: the caller has given up, nothing was touched
--   -2                        cannot enter again: the owner is not in
--   -3                        free, but others wait for it; nothing was touched
-- Everything is read and checked before the first write, for a script that fails halfway is not
-- taken back. Only the counter is read by the command that writes it.
local call, pcall, lock, owner = redis.call, redis.pcall, KEYS[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return {-1, 0, 0, now}
end

-- Mostly there is neither, which is found out in one call.
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
    -- The marker makes the entry idempotent: a request that runs twice counts once.
    local marker = owner .. '/' .. ARGV[6]
    if call('HSET', lock, marker, 1) == 1 then
        local count = pcall('HINCRBY', lock, owner, 1)
        if type(count) == 'table' then
            -- Not allowed to this user. A marker without its count would keep the lock from being
            -- freed.
            call('HDEL', lock, marker)
            return count
        end
    end
    return {1, 0, 0, now}
end

if left ~= -2 and not ours then
    local holder = 0
    if ARGV[7] == '1' then
        -- Every field but foreign ones begins with the owner. The rest of it would let one enter.
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

-- The server's clock, two fences a microsecond, is the floor, so that the fence rises also when the
-- counter was lost. For the same reason a block ends at that clock and reaches back to the grant
-- before: a fence from the future would be undercut when the data is lost. It reaches back by 5 ms
-- at most (10,000 fences): a server that begins again with an older counter has been away for
-- longer, so none of its blocks reaches below a fence that was given before. A double holds such a
-- number until the year 2112.
local floor = now * 2
-- The counter first: a fence that nobody was given does no harm, a lock that nobody knows of would.
local last, stored = 0, nil
if ours then
    stored = pcall('GET', KEYS[2])
elseif ARGV[5] ~= '0' then
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
    -- Not a whole number, or one that a double cannot add 1 to.
    if not last or last % 1 ~= 0 or last >= 9007199254740991 then
        if not ours then
            call('SET', KEYS[2], stored)
        end
        return redis.error_reply('WRONGTYPE the key ' .. KEYS[2] .. ' holds no fence')
    end
end

if ours and stored then
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
    -- The block was reserved for this owner by the first run; its end is a fence that nobody else
    -- can have.
    return {1, last, 1, now}
end

local first, count = floor, 1
if last >= floor then
    first = last + 1
elseif stored and ARGV[3] ~= '1' then
    count = math.min(tonumber(ARGV[3]), floor - last, 10000)
    first = floor - count + 1
end

if ours or first > floor then
    local top = string.format('%d', first + count - 1)
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
        -- Not allowed to this user: a lock that never expires must not stay behind.
        call('DEL', lock)
        return expires
    end
end
-- A list costs the server a microsecond more.
if first + count == floor + 1 and count == ARGV[3] + 0 then
    return floor
end
return {1, first, count, now}
