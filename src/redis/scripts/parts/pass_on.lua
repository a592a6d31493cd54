-- Passes a released lock on: leaves it free for external clients for `turn` ms, unless that is 0;
-- grants it to the first present waiter, or to the next owner; or sets `freed`. `grant` returns an
-- error or nothing; `draw(fences, bound)` two numbers, or an error. Changes `status`, and sets the
-- other results of the script: `joined`, `a`, `b`.
local joined, a, b, freed, last = next ~= '' and 2 or 0, 0, 0, false, next
-- Leaves the lock free for external clients. The record of the first waiter has the end of this
-- time. Does nothing if the server has no memory for that.
local function leave_free(first, record)
    if turn == 0 then
        return false
    end
    record = string.match(record, '^%d+ %d+ %d+ %d') .. ' ' ..
        string.format('%.0f', now + turn * 1000)
    if type(redis.pcall('HSET', KEYS[4], first, record)) == 'table' then
        return false
    end
    call('DEL', lock)
    return true
end
--include first_present.lua
if ttl and leave_free(who, record) then
    status, a, b = 5, turn, place
elseif ttl then
    call('LPOP', KEYS[3])
    call('HDEL', KEYS[4], who)
    grant(who, ttl)
    status, a, b = status == 1 and 4 or status, ttl, place > 0 and place - 1 or place
elseif passed == 100 and who then
    freed, b = true, place -- the next poll continues with the others
else
    if next ~= '' and turn ~= 0 and not who then
        join()
        who = next ~= '' and next or nil
    end
    if next ~= '' and turn ~= 0 and leave_free(next, entry()) then
        status, joined, a, b = 5, 2, turn, 0
    elseif next ~= '' then
        a, b = draw(fences, bound)
        if type(a) == 'number' then
            if who then
                call('LPOP', KEYS[3])
                call('HDEL', KEYS[4], next)
            end
            joined = 1
            if grant(next, next_lease) then
                joined, a, b, freed = 0, 0, 0, true
            end
        else
            -- Without a fence it stays in the queue, where its poll reports why.
            joined, a, b, freed = who and 2 or 0, 0, who and 0 or place, true
        end
    else
        joined, b, freed = 0, place, true
    end
end
