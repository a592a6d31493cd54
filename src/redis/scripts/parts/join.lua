-- The record of the owner in the queue, if it waits, and its adding at the end, unless it is there.
-- Returns its position. Uses `self`, the owner in the queue, and the arguments of an acquire.
local waits = ARGV[6] ~= '0'
local entry = waits and string.format('%.0f', now + ARGV[6] * 1000) .. ' ' .. ARGV[2] .. ' ' ..
    ARGV[7] .. ' ' .. ARGV[8]
local function join()
    if call('HSET', KEYS[4], self, entry) == 1 then
        return call('RPUSH', KEYS[3], self) - 1
    end
    return call('LPOS', KEYS[3], self, 'MAXLEN', 32) or -2
end
