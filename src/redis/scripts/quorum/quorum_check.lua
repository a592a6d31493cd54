-- Checks that this user may run, and this server knows, the commands of the other scripts of the
-- quorum. A command without a harmless form has wrong arguments: servers check the permissions
-- first.
-- ARGV the prefix of the keys, if any
local key = (ARGV[1] or '') .. 'leasehold:check'
local calls = {
    {'TIME'}, {'GET', key}, {'PTTL', key}, {'HMGET', key, '0'}, {'HGET', key, '0'},
    {'HEXISTS', key, '0'}, {'HLEN', key}, {'INFO', 'server'}, {'SET', key, '0', 'XX', 'PX', '1'},
    {'PEXPIRE', key, '1'}, {'HDEL', key, '0'}, {'HSET', key, '0', '0', '0'}, {'DEL', key}
}
--include ../parts/check_calls.lua
