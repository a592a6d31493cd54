-- Renews locks. Never creates a key, never shortens a TTL.
-- KEYS lock and its entries, of each
-- ARGV owner, lease (ms) and entry ('': the first) of each
-- Returns for each lock
--    1   renewed
--    0   gone: the owner, or the entry, does not hold the lock, or the key has another type
--   -1   not renewed: nothing is known of it
-- or, if all have failed, the first error.
-- pcall: an error at one lock must not end the renewal of the others.
local pcall, result, failed, first = redis.pcall, {}, 0, nil
for i = 1, #KEYS / 2 do
    local lock, owner, lease = KEYS[2 * i - 1], ARGV[3 * i - 2], ARGV[3 * i - 1] + 0
    local said = pcall('GET', lock)
    local mark = #owner + 1
    local entered = false
    local ours = said == owner
    if not ours and type(said) == 'string' and string.sub(said, 1, mark) == owner .. '|' then
        ours = true
        entered = string.find(said, 'e', mark, true)
    end
    -- The flags in the value, such as a waiter's, do not matter.
    if ours and (entered or ARGV[3 * i] ~= '') then
        said = pcall('HEXISTS', KEYS[2 * i], ARGV[3 * i])
        ours = said == 1
    end
    result[i] = ours and 1 or 0
    if ours then
        said = pcall('PTTL', lock)
        if type(said) == 'number' and said ~= -1 and said < lease then
            said = pcall('PEXPIRE', lock, lease)
            if entered and said == 1 then
                said = pcall('PEXPIRE', KEYS[2 * i], lease)
            end
        end
    end
    if type(said) == 'table' and not string.find(said.err, 'WRONGTYPE', 1, true) then
        result[i] = -1
        failed = failed + 1
        first = first or said
    end
end
if failed > 0 and failed == #KEYS / 2 then
    return first
end
return result
