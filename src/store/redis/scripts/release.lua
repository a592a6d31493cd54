-- Leaves a lock, and frees it when nobody else is in.
-- KEYS lock
-- ARGV owner, entry ('' for the first), release channel, in a cluster: how it is published
-- Returns {status, receivers}: 1 freed, 2 left but others are in, 0 not in (nothing was touched)
-- receivers: how many were told; -1: nobody was, because this user may not publish
local lock, owner, entry = KEYS[1], ARGV[1], ARGV[2]
local count = redis.call('HGET', lock, owner)
-- Mostly nobody else is in.
if count ~= '1' or entry ~= '' or redis.call('HLEN', lock) ~= 1 then
    count = tonumber(count)
    if not count then
        return {0, 0}
    end
    if entry ~= '' then
        if redis.call('HDEL', lock, owner .. '/' .. entry) == 0 then
            return {0, 0}
        end
    elseif count <= redis.call('HLEN', lock) - 1 then
        -- Only entries with markers are left: the first one has gone before, and this is its
        -- repetition.
        return {0, 0}
    end
    if count > 1 then
        redis.call('HINCRBY', lock, owner, -1)
        return {2, 0}
    end
end
redis.call('DEL', lock)
-- pcall: a user that may not publish has still released; those who wait look again by themselves.
local receivers = redis.pcall(ARGV[4] or 'PUBLISH', ARGV[3], '0')
if type(receivers) ~= 'number' then
    receivers = -1
end
return {1, receivers}
