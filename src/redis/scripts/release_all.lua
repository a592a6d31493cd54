-- Releases locks without waiters and further entries. queue_leave releases the others.
-- KEYS lock and queue of each  ARGV owner and release channel of each
-- Returns for each lock, as release does:
--    0 or more: freed, and the number of notified subscribers
--    -1    freed, without a notification, because this user may not publish
--    -2    nothing was changed: the lock has further entries or waiters, or another holder
local call, queues, result = redis.call, {}, {}
for i = 2, #KEYS, 2 do
    queues[#queues + 1] = KEYS[i]
end
-- Usually no queue exists, which takes one call to find.
local waiters = call('EXISTS', unpack(queues)) > 0
for i, queue in ipairs(queues) do
    local lock = KEYS[2 * i - 1]
    result[i] = -2
    -- pcall: a key of another type does not keep the other locks from being released.
    if redis.pcall('HGET', lock, ARGV[2 * i - 1]) == '1' and call('HLEN', lock) == 1 and
        not (waiters and call('EXISTS', queue) == 1) then
        call('DEL', lock)
        -- pcall: without permission to publish, the release still counts, and waiters poll.
        local receivers = redis.pcall('PUBLISH', ARGV[2 * i], '0')
        result[i] = type(receivers) == 'number' and receivers or -1
    end
end
return result
