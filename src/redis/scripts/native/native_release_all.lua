-- Releases locks without waiters and further entries. native_leave releases the others.
-- KEYS locks  ARGV owner of each
-- Returns for each lock: 1 freed, 0 the value is not exactly this owner
local call, locks, owners = redis.call, KEYS, ARGV
local values, freed, result = call('MGET', unpack(locks)), {}, {}
for i = 1, #locks do
    result[i] = 0
    if values[i] == owners[i] then
        freed[#freed + 1] = locks[i]
        result[i] = 1
    end
end
if freed[1] then
    call('DEL', unpack(freed))
end
return result
