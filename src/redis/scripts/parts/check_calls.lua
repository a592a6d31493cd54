-- Runs each of `calls`. Returns 1, or an error that begins with NOPERM or ERR unknown command and
-- names the command. Ignores other errors: no permission for the key, no memory, or a replica.
for i = 1, #calls do
    local reply = redis.pcall(unpack(calls[i]))
    local text = type(reply) == 'table' and reply.err
    if text then
        if string.find(text, 'nknown Redis command', 1, true) or
            string.find(text, 'nknown command', 1, true) then
            return redis.error_reply('ERR unknown command ' .. calls[i][1] ..
                ', which locks need: ' .. text)
        end
        local denied = string.find(text, 'NOPERM', 1, true) or
            string.find(text, 'ACL failure', 1, true) or
            string.find(text, "executing the script can't", 1, true)
        -- The user needs no permission for the key of this check.
        if denied and not string.find(text, ' key', 1, true) then
            return redis.error_reply('NOPERM ' .. calls[i][1] .. ', which locks need: ' .. text)
        end
    end
end
return 1
