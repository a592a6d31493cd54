-- Renews locks without reentrant acquisitions, which are almost all. Never creates a key, never
-- shortens a TTL. Each lock needs one key only: a cluster, where the script has one lock, serves
-- a single key of a migrating slot, but not two.
-- KEYS locks
-- ARGV owner and lease (ms) of each
-- Returns for each lock the same as native_renew, or
--    2   the lock has entries and needs native_renew: nothing was done
-- pcall: an error at one lock must not end the renewal of the others.
local pcall, result, failed, first = redis.pcall, {}, 0, nil
for i = 1, #KEYS do
    local lock, owner, lease = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i] + 0
    local reply = pcall('GET', lock)
    local mark = #owner + 1
    local ours, entered = reply == owner, false
    -- The flags in the value, such as a waiter's, do not matter.
    if not ours and type(reply) == 'string' and string.sub(reply, 1, mark) == owner .. '|' then
        ours = true
        entered = string.find(reply, 'e', mark, true)
    end
    result[i] = entered and 2 or ours and 1 or 0
    if ours and not entered then
        reply = pcall('PTTL', lock)
        if type(reply) == 'number' and reply ~= -1 and reply < lease then
            reply = pcall('PEXPIRE', lock, lease)
        end
    end
    if type(reply) == 'table' and not string.find(reply.err, 'WRONGTYPE', 1, true) then
        result[i] = -1
        failed = failed + 1
        first = first or reply
    end
end
if failed > 0 and failed == #KEYS then
    return first
end
return result
