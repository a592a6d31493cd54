-- Returns the record of a server. Called first on each connection. A server that has restarted, or
-- that has no record, becomes a blank server.
-- KEYS record of the member
-- ARGV a new nonce
-- Returns {1: a member, 0: a blank server; epoch, largest fence, longest lease (ms), nonce, ms
--          until it grants, sum of nonces in its seed, server time in us}
local call, member = redis.call, KEYS[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local run = string.match(call('INFO', 'server'), 'run_id:(%x+)')
local known = call('HMGET', member, 'run', 'nonce', 'until', 'epoch', 'top', 'lease', 'began')
local ms = math.floor(now / 1000)
if not known[1] or known[1] ~= run then
    call('HDEL', member, 'until')
    call('HSET', member, 'run', run, 'nonce', ARGV[1], 'since', string.format('%.0f', ms))
    known[2] = ARGV[1]
    known[3] = false
end
local left = known[3] and math.max(known[3] - ms, 0) or 0
return {known[3] and 1 or 0, (known[4] or 0) + 0, (known[5] or 0) + 0, (known[6] or 0) + 0,
    known[2] + 0, left, (known[7] or 0) + 0, now}
