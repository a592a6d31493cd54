-- Releases an entry, and frees the lock if its owner has no other entry.
-- KEYS lock, entries, largest fence of the name
-- ARGV owner, entry ('' for the first), release channel ('': no notification)
-- Returns {status, receivers, largest fence}: 1 freed, 2 released but other entries hold the lock,
-- 0 the owner or the entry does not hold the lock (nothing was changed)
-- receivers: number of notified subscribers; -1: none, because this user may not publish
local call, lock, entries, owner = redis.call, KEYS[1], KEYS[2], ARGV[1]
if redis.pcall('GET', lock) ~= owner then
    return {0, 0, 0}
end
if call('HGET', entries, 'owner') == owner then
    if call('HDEL', entries, 'e:' .. ARGV[2]) == 0 then
        return {0, 0, 0}
    end
    if call('HLEN', entries) > 1 then
        return {2, 0, 0}
    end
    call('DEL', entries)
elseif ARGV[2] ~= '' then
    return {0, 0, 0}
end
call('DEL', lock)
local fence = redis.pcall('GET', KEYS[3])
fence = type(fence) == 'string' and string.find(fence, '^%d+$') and fence or '0'
-- The same at all members, so that a receiver detects duplicates. It does not reveal the owner.
local text = fence .. ' ' .. string.sub(redis.sha1hex(owner), 1, 16)
-- pcall: without permission to publish, the release still counts, and waiters poll.
local receivers = 0
if ARGV[3] ~= '' then
    receivers = redis.pcall('PUBLISH', ARGV[3], text)
end
if type(receivers) ~= 'number' then
    receivers = -1
end
return {1, receivers, tonumber(fence)}
