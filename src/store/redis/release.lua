-- Leaves a lock, and frees it when nobody else is in.
-- KEYS lock
-- ARGV owner, entry ('' for the first), release channel
-- Returns {status, receivers}: 1 freed, 2 left but others are in, 0 not in (nothing was touched)
local owner, entry = ARGV[1], ARGV[2]
local count = tonumber(redis.call('HGET', KEYS[1], owner))
if not count then
    return {0, 0}
end
if entry ~= '' then
    if redis.call('HDEL', KEYS[1], owner .. '/' .. entry) == 0 then
        return {0, 0}
    end
elseif count <= redis.call('HLEN', KEYS[1]) - 1 then
    -- Only entries with markers are left: the first one has gone before, and this is its repetition.
    return {0, 0}
end
if count > 1 then
    redis.call('HINCRBY', KEYS[1], owner, -1)
    return {2, 0}
end
redis.call('DEL', KEYS[1])
return {1, redis.call('PUBLISH', ARGV[3], '0')}
