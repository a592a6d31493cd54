-- Makes the member reject requests of earlier epochs, and returns its record.
-- KEYS record of the member
-- ARGV epoch
-- Returns {1: adopted, 0: not a member; epoch, largest fence, longest lease (ms), server time in
-- us}
local call, member = redis.call, KEYS[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local known = call('HMGET', member, 'until', 'epoch', 'top', 'lease')
if not known[1] then
    return {0, 0, 0, 0, now}
end
local epoch = known[2] + 0
if ARGV[1] + 0 > epoch then
    epoch = ARGV[1] + 0
    call('HSET', member, 'epoch', ARGV[1])
end
return {1, epoch, known[3] + 0, known[4] + 0, now}
