-- Raises the fence counter to the server's clock. Called first on each connection.
-- KEYS fence counter
-- ARGV the largest fence that this client has seen
-- Returns {the counter}
local time = redis.call('TIME')
local least = math.max((time[1] * 1000000 + time[2]) * 2, ARGV[1] + 0)
local stored = redis.call('GET', KEYS[1])
if stored and not string.find(stored, '^%d+$') then
    return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' holds no fence')
end
if stored and stored + 0 >= least then
    return {stored + 0}
end
redis.call('SET', KEYS[1], string.format('%.0f', least))
return {least}
