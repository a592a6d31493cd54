-- Renews locks. Never shortens a TTL. Creates a lock or an entry only on request: then a majority
-- of the other members has it for this owner.
-- KEYS lock and its entries, of each
-- ARGV latest server time (us, 0: any) for a creation; then of each: owner, lease (ms),
--      entry ('': the first), 1: create it
-- Returns for each lock
--    2   free, or held by the owner without this entry
--    1   renewed, or created
--    0   gone: another owner holds it, or the key has another type
--   -1   not renewed: nothing is known of it
-- or, if all have failed, the first error.
-- pcall: an error at one lock must not end the renewal of the others.
local pcall = redis.pcall

-- Returns the result, and the last reply: it may be an error.
local function renew(lock, entries, owner, lease, entry, create)
    local reply = pcall('GET', lock)
    local ours = reply == owner
    if reply and not ours then
        return 0, reply
    end
    if not ours then
        if not create then
            return 2
        end
        reply = pcall('SET', lock, owner, 'PX', lease)
        -- The lock must be set before the DEL. After a DEL the server accepts writes even without
        -- memory, so the owner would get the next entry and not this one.
        if reply.err then
            return -1, reply
        end
        pcall('DEL', entries)
    end
    local listed = pcall('HGET', entries, 'owner') == owner
    local entered = listed and pcall('HEXISTS', entries, entry) == 1
    if not entered and (listed or entry ~= 'e:') then
        if not create then
            return 2
        end
        if ours and not listed then
            -- The first entry is listed only when there is a second one.
            pcall('DEL', entries)
            pcall('HSET', entries, 'e:', 1)
        end
        reply = pcall('HSET', entries, 'owner', owner, entry, 1)
        if type(reply) == 'table' then
            return -1, reply
        end
        listed = true
    end
    reply = pcall('PTTL', lock)
    if type(reply) == 'number' and reply ~= -1 and reply < lease + 0 then
        reply = pcall('PEXPIRE', lock, lease)
    end
    if listed and type(reply) == 'number' then
        reply = pcall('PEXPIRE', entries, math.max(reply == -1 and lease + 0 or
            pcall('PTTL', lock), lease + 0))
    end
    return 1, reply
end

local result, failed, first = {}, 0, nil
local time = redis.call('TIME')
local late = #ARGV > 0 and ARGV[1] ~= '0' and time[1] * 1000000 + time[2] > ARGV[1] + 0
for i = 1, #KEYS / 2 do
    local reply
    result[i], reply = renew(KEYS[2 * i - 1], KEYS[2 * i], ARGV[4 * i - 2], ARGV[4 * i - 1],
        'e:' .. ARGV[4 * i], ARGV[4 * i + 1] == '1' and not late)
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
