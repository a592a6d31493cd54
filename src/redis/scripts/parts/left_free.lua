-- Sets `open` if the lock is left free for external clients: until when, in us of the server's
-- clock, as the record of the first waiter `who` says. At most for a second, even if the clock
-- steps.
local first, open = who and call('HGET', KEYS[4], who), nil
if first then
    local there, till = string.match(first, '^(%d+) %d+ %d+ %d (%d+)$')
    if till and there + 0 >= now and till + 0 > now and till - now <= 1000000 then
        open = till
    end
end
