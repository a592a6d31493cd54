-- Makes a blank server a member.
-- KEYS record of the member
-- ARGV its nonce, epoch, the largest fence that may have been granted, time without grants (ms,
--      from the time when it was found blank), the longest lease requested so far (ms), the sum of
--      the nonces of all members if all of them begin again together (otherwise 0)
-- Returns {status, ms until it grants, server time in us}: 1 done, 2 already a member, 0 another
-- blank server
local call, member = redis.call, KEYS[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local known = call('HMGET', member, 'nonce', 'until', 'since', 'epoch', 'top', 'lease')
if known[2] then
    return {2, math.max(known[2] - ms, 0), now}
end
if known[1] ~= ARGV[1] then
    return {0, 0, now}
end
local top = string.format('%.0f', math.max((known[5] or 0) + 0, ARGV[3] + 0))
local epoch = string.format('%.0f', math.max((known[4] or 0) + 0, ARGV[2] + 0))
local lease = string.format('%.0f', math.max((known[6] or 0) + 0, ARGV[5] + 0))
local over = known[3] + ARGV[4]
-- A clock that was set back meanwhile must not make this time longer.
over = math.min(over, ms + ARGV[4])
call('HSET', member, 'until', string.format('%.0f', over), 'epoch', epoch, 'floor', top, 'top', top,
    'mark', top, 'turned', string.format('%.0f', ms), 'lease', lease, 'began', ARGV[6])
return {1, math.max(over - ms, 0), now}
