-- Releases a lock without waiters and further entries. For all other cases: native_leave.
-- KEYS lock  ARGV owner
-- Returns 1 freed, 0 the value is not exactly this owner
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
