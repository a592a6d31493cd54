-- Adds the next owner at the end of the queue, unless it is there. Uses `call` and `entry`, and
-- sets `place`. If the server has no memory, the next owner does not join, `next` becomes '', and
-- the release continues.
local function join()
    local added = redis.pcall('HSET', KEYS[4], next, entry())
    if type(added) == 'table' then
        next = ''
        return
    end
    if added == 1 then
        place = call('RPUSH', KEYS[3], next) - 1
    else
        place = call('LPOS', KEYS[3], next, 'MAXLEN', 32) or -2
    end
    call('PEXPIRE', KEYS[3], 86400000)
    call('PEXPIRE', KEYS[4], 86400000)
end
