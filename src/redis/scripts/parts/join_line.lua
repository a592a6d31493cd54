-- The next owner goes to the end of the line, unless it is in. Uses `call` and
-- `entry`, and sets `place`, or `next` to ''.
-- Without memory for it the next owner stays out: to leave takes none.
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
