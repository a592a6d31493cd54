-- Prolongs one lock, in a cluster: with one key, which a slot that is on its way serves, as one
-- with two is not. Never creates a key, never shortens a TTL.
-- KEYS lock
-- ARGV owner, lease (ms), entry ('': the first)
-- Returns {1} renewed; {0} gone: the owner is not in, or someone overwrote the key with another
-- type; {2} there are entries, which native_renew looks at
local lock, owner, lease = KEYS[1], ARGV[1], ARGV[2] + 0
local value = redis.pcall('GET', lock)
if type(value) == 'table' then
    if string.find(value.err, 'WRONGTYPE', 1, true) then
        return {0}
    end
    return value
end
if value ~= owner then
    if not value or string.sub(value, 1, #owner + 1) ~= owner .. '|' then
        return {0}
    end
    if string.find(value, 'e', #owner + 1, true) then
        return {2}
    end
end
if ARGV[3] ~= '' then
    return {0} -- nobody has entered
end
local left = redis.call('PTTL', lock)
if left ~= -1 and left < lease then
    redis.call('PEXPIRE', lock, lease)
end
return {1}
