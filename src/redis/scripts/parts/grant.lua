-- Writes the lock of `owner`, as it is in the queue, instead of the lock that is still `held`. If
-- this user may not set a TTL, deletes the lock, because a lock that never expires must not remain,
-- and returns the error.
local function grant(owner, ttl)
    if held then
        call('DEL', lock)
    end
    call('HSET', lock, string.sub(owner, 4), '1')
    local expires = redis.pcall('PEXPIRE', lock, ttl)
    if expires ~= 1 then
        call('DEL', lock)
        return expires
    end
end
