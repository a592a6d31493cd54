-- Removes absent waiters from the queue, at most a hundred, until `who`, its first waiter, is
-- present or is `last`. If it is present, sets `ttl`, the TTL of a grant to it, and `record`.
-- Counts in `passed`. `turns` is the prefix of the channels of clients that wait.
local passed, ttl, record = 0, nil, nil
while who and who ~= last and not ttl and passed < 100 do
    record = call('HGET', KEYS[4], who)
    local there, lease, claim, listens
    if record then
        there, lease, claim, listens = string.match(record, '^(%d+) (%d+) (%d+) (%d)')
    end
    -- Published before the grant, because it is only a reason to poll. Without a subscriber the
    -- waiter is absent.
    if there and there + 0 >= now and
        (redis.pcall(publish, turns .. (string.match(who, '^lh:([^:]*)') or ''),
            who .. ' ' .. lock) ~= 0 or
            listens == '0') then
        ttl = math.min(lease + 0, claim + 0)
    else
        call('LPOP', KEYS[3])
        call('HDEL', KEYS[4], who)
        place = place > 0 and place - 1 or place
        passed = passed + 1
        who = call('LINDEX', KEYS[3], 0)
    end
end
