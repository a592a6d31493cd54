-- Prolongs many locks. Never creates a key, never shortens a TTL.
-- KEYS locks
-- ARGV owner and lease (ms) of each
-- Returns for each lock 1 (renewed) or 0 (the owner is not in)
local result = {}
for i = 1, #KEYS do
    local owner, lease = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
    result[i] = 0
    -- pcall: a key that someone overwrote with another type ends its own lease only, not the batch.
    if redis.pcall('HEXISTS', KEYS[i], owner) == 1 then
        local left = redis.call('PTTL', KEYS[i])
        if left ~= -1 and left < lease then
            redis.call('PEXPIRE', KEYS[i], lease)
        end
        result[i] = 1
    end
end
return result
