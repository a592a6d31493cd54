-- Takes a free lock that nobody waits for, repeats an acquire whose answer was lost, takes what the
-- line has given, or waits in line: to join, to say that one is still there, to look and to take
-- one's turn are the same request, sent again under the same owner.
-- KEYS lock, fence counter, line (LIST of owners),
--      waiters (HASH owner -> 'there until, in server us; lease, claim in ms; listens')
-- ARGV owner, lease (ms), fences wanted, latest server time (us, 0: none), the fences granted are
--      larger than this (negative: than its opposite and the clock, for the counter may have been
--      taken back unseen), presence (ms, 0: does not wait), claim (ms), listens: 1 or 0,
--      1: say who holds it
-- Returns {status, a, b, c, server time in us}
--    1, last fence of the block, n    granted; n is 1 when others are in line, 0 when not
--    0, PTTL, place, holder          held by another, or others come first. Place from 0, -1: not
--                                    in line, -2: far back. Holder: the first 32 bits of the UUID
--                                    of its client; 0: not asked or not known
--    2, PTTL, place                  held by one that does not know the line
--   -1                               too late: the caller has given up, nothing was touched
-- Everything is read and checked before the first write: a script that fails halfway is not taken
-- back.
local call, lock, owner = redis.call, KEYS[1], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return {-1, 0, 0, 0, now}
end

local function typed(said, key, kind)
    if type(said) ~= 'table' or not said.err then
        return said
    end
    if string.find(said.err, 'not an integer', 1, true) or
        string.find(said.err, 'would overflow', 1, true) then
        return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds no fence')
    end
    if string.find(said.err, 'WRONGTYPE', 1, true) then
        local found = redis.pcall('TYPE', key)
        return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds ' ..
            (found.ok or 'another type') .. ', ' .. kind .. ' is a string')
    end
    return said
end

local value = typed(redis.pcall('GET', lock), lock, 'a lock')
if type(value) == 'table' then
    return value
end
local ours = value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|'

-- Draws a block that ends above the floor. The server's clock is the least: a counter that was lost
-- begins there.
local function draw()
    local last = typed(redis.pcall('INCRBY', KEYS[2], ARGV[3]), KEYS[2], 'a fence counter')
    if type(last) ~= 'number' then
        return last
    end
    local floor = ARGV[5] + 0
    if floor <= 0 then
        floor = math.max(-floor, now * 2)
    end
    if last - ARGV[3] < floor then
        local least = math.max(floor, now * 2)
        if last < least then
            last = least
        end
        last = last + ARGV[3]
        call('SET', KEYS[2], string.format('%.0f', last))
    end
    return last
end

if ours then
    -- Drawn now, while it is ours: higher than every fence with which anybody was in before.
    local last = draw()
    if type(last) ~= 'number' then
        return last
    end
    local left = call('PTTL', lock)
    if left >= 0 and left < ARGV[2] + 0 then
        call('PEXPIRE', lock, ARGV[2])
    end
    if call('HDEL', KEYS[4], owner) == 1 then -- it came in past the line
        call('LREM', KEYS[3], 1, owner)
    end
    return {1, last, string.find(value, 'w', #owner + 1, true) and 1 or 0, 0, now}
end

local waits = ARGV[6] ~= '0'
local entry = waits and string.format('%.0f', now + ARGV[6] * 1000) .. ' ' .. ARGV[2] .. ' ' ..
    ARGV[7] .. ' ' .. ARGV[8]

-- To the end of the line, unless it is in. Returns its place.
local function join()
    if call('HSET', KEYS[4], owner, entry) == 1 then
        return call('RPUSH', KEYS[3], owner) - 1
    end
    return call('LPOS', KEYS[3], owner, 'MAXLEN', 32) or -2
end

if value then
    local known = string.sub(value, 1, 3) == 'lh:'
    local place = -1
    if waits then
        place = join()
        if place <= 0 then
            call('PEXPIRE', KEYS[3], 86400000)
            call('PEXPIRE', KEYS[4], 86400000)
        end
        -- Another library compares its value byte for byte when it leaves.
        if known then
            local flags = string.find(value, '|', 4, true)
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
    local holder = 0
    if ARGV[9] == '1' then
        local name = string.match(value, '^lh:(%x%x%x%x%x%x%x%x)%-')
        holder = tonumber(name or '0', 16)
    end
    return {0, left, place, holder, now}
end

-- Free. The first who is there gets it; those before who are not lose their place, a hundred at a
-- time.
local who = call('LINDEX', KEYS[3], 0)
local slot = string.sub(KEYS[2], 16) -- ':{tag}' in a cluster
local publish = slot == '' and 'PUBLISH' or 'SPUBLISH'
local passed = 0
while who and who ~= owner do
    local waiter = call('HGET', KEYS[4], who)
    if waiter then
        local there, lease, claim, listens = string.match(waiter, '^(%d+) (%d+) (%d+) (%d)$')
        local client = string.match(who, '^lh:([^:]*)')
        if there and there + 0 >= now and
            (redis.pcall(publish, 'leasehold:turn' .. slot .. ':' .. client,
                who .. ' ' .. lock) ~= 0 or
                listens == '0') then
            local place = -1
            if waits then
                place = join()
                place = place > 0 and place - 1 or place
            end
            call('LPOP', KEYS[3])
            call('HDEL', KEYS[4], who)
            local ttl = math.min(lease + 0, claim + 0)
            local more = call('EXISTS', KEYS[3]) == 1
            call('SET', lock, more and who .. '|w' or who, 'PX', ttl)
            return {0, ttl, place, 0, now}
        end
    end
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], who)
    passed = passed + 1
    if passed == 100 then
        return {0, 0, waits and join() or -1, 0, now}
    end
    who = call('LINDEX', KEYS[3], 0)
end

-- The counter first: a fence that nobody was given does no harm, a lock that nobody knows of would.
local last = draw()
if type(last) ~= 'number' then
    return last
end
if who then
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], owner)
    who = call('EXISTS', KEYS[3]) == 1
end
call('SET', lock, who and owner .. '|w' or owner, 'PX', ARGV[2])
return {1, last, who and 1 or 0, 0, now}
