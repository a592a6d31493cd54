-- Leaves a lock that nobody waits for and nobody else is in; for everything else there is
-- line_leave.
-- KEYS lock, and unless the line is elsewhere: line
-- ARGV owner, release channel, in a cluster: how it is published
-- Returns 0 or more: freed, and so many were told
--    -1    freed, nobody was told, because this user may not publish
--    -2    nothing was touched: others are in, or wait, or the owner is not in
local call, lock = redis.call, KEYS[1]
if call('HGET', lock, ARGV[1]) ~= '1' or call('HLEN', lock) ~= 1 or
    KEYS[2] and call('EXISTS', KEYS[2]) == 1 then
    return -2
end
call('DEL', lock)
-- pcall: a user that may not publish has still released; those who wait look again by themselves.
local receivers = redis.pcall(ARGV[3] or 'PUBLISH', ARGV[2], '0')
return type(receivers) == 'number' and receivers or -1
