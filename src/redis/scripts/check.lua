-- Whether this user may run, and this server knows, what the other scripts call. Where there is no
-- harmless form, the arguments are wrong, which servers look at after the rights; what the last but
-- one writes, the last takes away.
-- Returns 1, or an error that begins with NOPERM or ERR unknown command and names the command.
-- Any other error says nothing: the key is not this user's, there is no memory, a replica.
local key = 'redisson_lock_token:{leasehold}:check'
local calls = {
    {'TIME'}, {'PTTL', key}, {'HEXISTS', key, '0'}, {'GET', key}, {'HGET', key, '0'},
    {'HLEN', key}, {'EXISTS', key}, {'LINDEX', key, '0'}, {'LPOS', key, '0', 'MAXLEN', '1'},
    {'PEXPIRE', key, '1'}, {'HDEL', key, '0'}, {'DEL', key}, {'SET', key, '0', 'XX', 'PX', '1'},
    {'HSET', key, '0', '0', '0'}, {'HINCRBY', key, '0', '?'}, {'LPOP', key},
    {'LREM', key, '1', '0'}, {'RPUSH', key, '0'}, {'DEL', key}
}
for i = 1, #calls do
    local said = redis.pcall(unpack(calls[i]))
    local text = type(said) == 'table' and said.err
    if text then
        if string.find(text, 'nknown Redis command', 1, true) or
            string.find(text, 'nknown command', 1, true) then
            return redis.error_reply('ERR unknown command ' .. calls[i][1] ..
                ', which locks need: ' .. text)
        end
        local denied = string.find(text, 'NOPERM', 1, true) or
            string.find(text, 'ACL failure', 1, true) or
            string.find(text, "executing the script can't", 1, true)
        -- The key of this check need not be allowed.
        if denied and not string.find(text, ' key', 1, true) then
            return redis.error_reply('NOPERM ' .. calls[i][1] .. ', which locks need: ' .. text)
        end
    end
end
return 1
