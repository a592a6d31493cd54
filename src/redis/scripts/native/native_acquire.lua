-- Takes a free lock that nobody waits for, repeats an acquire whose answer was lost, takes what the
-- line has given, or waits in line: to join, to say that one is still there, to look and to take
-- one's turn are the same request, sent again under the same owner.
-- KEYS lock, fence counter, line (LIST of owners),
--      waiters (HASH owner -> 'there until, in server us; lease, claim in ms; listens', and where
--      the lock was left free for those who do not know the line: until when, in server us), and
--      where the owner promises to be alive, its client's record (STRING run id of the server)
-- ARGV owner, lease (ms), fences wanted, latest server time (us, 0: none), the fences granted are
--      larger than this (negative: than its opposite and the clock, for the counter may have been
--      taken back unseen), presence (ms, 0: does not wait), claim (ms), listens: 1 or 0,
--      1: say who holds it, and where the owner promises to be alive, its grace (ms)
-- Returns {status, a, b, c, server time in us}
--    1, last fence of the block, m, how many  granted; of m, 1: others are in line, 2: the promise
--                                    was written down. The block ends at the server's clock, so
--                                    there may be fewer than wanted
--    0, PTTL, place, holder          held by another, or others come first, or left free for those
--                                    who do not know the line. Place from 0, -1: not in line, -2:
--                                    far back. Holder: the first 32 bits of the UUID of its client;
--                                    0: not asked or not known
--    3, silence, place, holder       held by one that has promised to be alive: how long it may be
--                                    silent yet
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

-- Draws a block above the floor. A counter that was lost begins at the server's clock, two for each
-- microsecond, and has to be above all that was drawn before it: so no block of more than one
-- reaches beyond the clock. One that may have been taken back unseen does not begin further behind
-- it than a block is long, half a millisecond at most: no server begins again within that.
local function draw()
    local wanted, clock, floor = ARGV[3] + 0, now * 2, ARGV[5] + 0
    local last = typed(redis.pcall('INCRBY', KEYS[2], ARGV[3]), KEYS[2], 'a fence counter')
    if type(last) ~= 'number' then
        return last
    end
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
    return last, count
end

-- Where the owner promises to be alive, or the holder has: which run of the server this is. What
-- was recorded before a restart, or at another server, says nothing here. Nothing, when this user
-- may not ask.
local flags = value and not ours and string.find(value, '|', 4, true)
local grace = flags and KEYS[2] == 'leasehold:fence' and string.sub(value, 1, 3) == 'lh:' and
    string.match(value, 'g(%d+)', flags)
local run
if grace or ARGV[10] and (ours or not value) then
    local said = redis.pcall('INFO', 'server')
    run = type(said) == 'string' and string.match(said, 'run_id:(%x+)')
end
-- Records are kept for so long after a sign of life, and so their time to live says how old they
-- are.
local kept = 120000

if ours then
    -- Drawn now, while it is ours: higher than every fence with which anybody was in before.
    local last, count = draw()
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
    local promised = ''
    -- Without the promise it has made none, whatever an earlier request of it, whose answer was
    -- lost, has written.
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

-- How long the holder, if it has promised to be alive, may be silent yet, in ms; nothing where it
-- is not known. One without a record begins to be silent now.
local silence
if grace and run then
    local record = 'leasehold:alive:' .. string.match(value, '^lh:([^:|]*)')
    local known = redis.pcall('GET', record)
    local left = known == run and call('PTTL', record) or -1
    if left >= 0 then
        silence = grace - (kept - left)
    elseif type(known) ~= 'table' then
        redis.pcall('SET', record, run, 'PX', kept)
        silence = grace + 0
    end
    if silence and silence <= 0 then
        value = nil -- and what follows is as if it were free
    end
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
local first = who and call('HGET', KEYS[4], who)
local until_there, open
if first then
    until_there, open = string.match(first, '^(%d+) %d+ %d+ %d (%d+)$')
end
-- Left free for those who do not know the line, for a second at most, whatever the clock does.
if open and until_there + 0 >= now and open + 0 > now and open - now <= 1000000 then
    local place = -1
    if waits and who == owner then
        call('HSET', KEYS[4], owner, entry .. ' ' .. open)
        place = 0
    elseif waits then
        place = join()
    end
    return {0, math.ceil((open - now) / 1000), place, 0, now}
end

-- Free. The first who is there gets it; those before who are not lose their place, a hundred at a
-- time.
local slot = string.sub(KEYS[2], 16) -- ':{tag}' in a cluster
local publish = slot == '' and 'PUBLISH' or 'SPUBLISH'
local passed = 0
while who and who ~= owner do
    local waiter = call('HGET', KEYS[4], who)
    if waiter then
        local there, lease, claim, listens = string.match(waiter, '^(%d+) (%d+) (%d+) (%d)')
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
local last, count = draw()
if type(last) ~= 'number' then
    return last
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
