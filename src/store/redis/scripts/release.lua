-- Leaves a lock, and frees it when nobody else is in.
-- KEYS lock
-- ARGV owner, release channel, and where it is needed:
--      entry ('' for the first), in a cluster: how it is published
-- Returns 0 or more: freed, and so many were told
--    -1    freed, nobody was told, because this user may not publish
--    -2    left, but others are in
--    -3    not in, nothing was touched
local call, lock, owner, entry = redis.call, KEYS[1], ARGV[1], ARGV[3]
local count = call('HGET', lock, owner)
-- Mostly nobody else is in.
if count ~= '1' or entry and entry ~= '' or call('HLEN', lock) ~= 1 then
    count = tonumber(count)
    if not count then
        return -3
    end
    if entry and entry ~= '' then
        if call('HDEL', lock, owner .. '/' .. entry) == 0 then
            return -3
        end
    elseif count <= call('HLEN', lock) - 1 then
        -- Only entries with markers are left: the first one has gone before, and this is its
        -- repetition.
        return -3
    end
    if count > 1 then
        call('HINCRBY', lock, owner, -1)
        return -2
    end
end
call('DEL', lock)
-- pcall: a user that may not publish has still released; those who wait look again by themselves.
local receivers = redis.pcall(ARGV[4] or 'PUBLISH', ARGV[2], '0')
return type(receivers) == 'number' and receivers or -1
