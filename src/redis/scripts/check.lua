-- Checks that this user may run, and this server knows, the commands of the other scripts. A
-- command without a harmless form has wrong arguments: servers check the permissions first. RPUSH
-- writes, and the last command deletes its key.
local key = 'redisson_lock_token:{leasehold}:check'
local calls = {
    {'TIME'}, {'PTTL', key}, {'HEXISTS', key, '0'}, {'GET', key}, {'HGET', key, '0'},
    {'HLEN', key}, {'EXISTS', key}, {'LINDEX', key, '0'}, {'LPOS', key, '0', 'MAXLEN', '1'},
    {'PEXPIRE', key, '1'}, {'HDEL', key, '0'}, {'DEL', key}, {'SET', key, '0', 'XX', 'PX', '1'},
    {'HSET', key, '0', '0', '0'}, {'HINCRBY', key, '0', '?'}, {'LPOP', key},
    {'LREM', key, '1', '0'}, {'RPUSH', key, '0'}, {'DEL', key}
}
--include parts/check_calls.lua
