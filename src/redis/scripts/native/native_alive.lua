-- Records a heartbeat of a client.
-- KEYS record of the client's heartbeats (STRING run id of the server)
-- Returns {1}: there was a record of this run of the server, {2}: there was none, {0}: this user
--   may not read the run id
local reply = redis.pcall('INFO', 'server')
local run = type(reply) == 'string' and string.match(reply, 'run_id:(%x+)')
if not run then
    return {0}
end
-- The TTL is that of native_acquire. PEXPIRE works even if the server has no memory.
if redis.call('GET', KEYS[1]) == run then
    redis.call('PEXPIRE', KEYS[1], 120000)
    return {1}
end
redis.call('SET', KEYS[1], run, 'PX', 120000)
return {2}
