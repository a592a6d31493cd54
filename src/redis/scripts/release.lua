-- Releases a lock without waiters and further entries. For all other cases: queue_leave.
-- KEYS lock, and unless this node does not have it: queue
-- ARGV owner, release channel, in a cluster: command that publishes
-- Returns 0 or more: freed, and the number of notified subscribers
--    -1    freed, without a notification, because this user may not publish
--    -2    nothing was changed: the lock has further entries or waiters, or another holder
local call, lock = redis.call, KEYS[1]
if call('HGET', lock, ARGV[1]) ~= '1' or call('HLEN', lock) ~= 1 or
    KEYS[2] and call('EXISTS', KEYS[2]) == 1 then
    return -2
end
call('DEL', lock)
-- pcall: without permission to publish, the release still counts, and waiters poll.
local receivers = redis.pcall(ARGV[3] or 'PUBLISH', ARGV[2], '0')
return type(receivers) == 'number' and receivers or -1
