-- Checks that this user may run, and this server knows, the commands of the other scripts of the
-- layout `native`. A command without a harmless form has wrong arguments: servers check the
-- permissions first. RPUSH writes, and the last command deletes its key.
-- ARGV the prefix of the keys, if any
local key = (ARGV[1] or '') .. 'leasehold:check'
local calls = {
    {'TIME'}, {'GET', key}, {'MGET', key}, {'PTTL', key}, {'EXISTS', key}, {'LINDEX', key, '0'},
    {'LPOS', key, '0', 'MAXLEN', '1'}, {'HGET', key, '0'}, {'HEXISTS', key, '0'},
    {'SET', key, '0', 'XX', 'KEEPTTL'}, {'INCRBY', key, '?'}, {'DEL', key},
    {'PEXPIRE', key, '1'}, {'HDEL', key, '0'}, {'LPOP', key}, {'LREM', key, '1', '0'},
    {'HSET', key, '0', '0', '0'}, {'RPUSH', key, '0'}, {'DEL', key}
}
--include ../parts/check_calls.lua
