-- Writes the lock of a waiter, with a mark if others wait behind it.
local function grant(owner, ttl)
    local more = who and call('EXISTS', KEYS[3]) == 1
    call('SET', lock, more and owner .. '|w' or owner, 'PX', ttl)
end
