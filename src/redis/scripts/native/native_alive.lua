-- A sign of life of a client that has promised one.
-- KEYS its record (STRING run id of the server)
-- Returns {1}, or {2}: there was none, or it was of another run of the server, or {0}: this user
--   may not ask which run this is
local said = redis.pcall('INFO', 'server')
local run = type(said) == 'string' and string.match(said, 'run_id:(%x+)')
if not run then
    return {0}
end
-- As in native_acquire. A renewal takes no memory.
if redis.call('GET', KEYS[1]) == run then
    redis.call('PEXPIRE', KEYS[1], 120000)
    return {1}
end
redis.call('SET', KEYS[1], run, 'PX', 120000)
return {2}
