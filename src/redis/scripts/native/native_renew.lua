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
    local reply = pcall('GET', lock)
    local mark = #owner + 1
    local entered = false
    local ours = reply == owner
    if not ours and type(reply) == 'string' and string.sub(reply, 1, mark) == owner .. '|' then
        ours = true
        entered = string.find(reply, 'e', mark, true)
    end
    -- The flags in the value, such as a waiter's, do not matter.
    if ours and (entered or ARGV[3 * i] ~= '') then
        reply = pcall('HEXISTS', KEYS[2 * i], ARGV[3 * i])
        ours = reply == 1
    end
    result[i] = ours and 1 or 0
    if ours then
        reply = pcall('PTTL', lock)
        if type(reply) == 'number' and reply ~= -1 and reply < lease then
            reply = pcall('PEXPIRE', lock, lease)
            if entered and reply == 1 then
                reply = pcall('PEXPIRE', KEYS[2 * i], lease)
            end
        end
    end
    if type(reply) == 'table' and not string.find(reply.err, 'WRONGTYPE', 1, true) then
        result[i] = -1
        failed = failed + 1
        first = first or reply
    end
end
if failed > 0 and failed == #KEYS / 2 then
    return first
end
return result
