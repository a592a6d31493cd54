-- The lock is free. It stays free for external clients, or goes to `who`, the first waiter, if that
-- is present: by `grant`, which returns an error or nothing. After this part the caller is first,
-- or nobody waits. `first_of_open` is the status of the first waiter while the lock stays free.
local place, last = -1, self
--include left_free.lua
if open then
    if waits and who == self then
        -- Kept until this waiter finds the lock held. The external clients then had their chance,
        -- and must not get the next one as well.
        call('HSET', KEYS[4], self, entry .. ' ' .. open)
        place = 0
    elseif waits then
        place = join()
    end
    return {place == 0 and first_of_open or 0, math.ceil((open - now) / 1000), place, 0, now}
end
--include first_present.lua
if ttl then
    if waits then
        place = join()
        place = place > 0 and place - 1 or place
    end
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], who)
    return grant(who, ttl) or {0, ttl, place, 0, now}
end
if passed == 100 then
    return {0, 0, waits and join() or -1, 0, now}
end
