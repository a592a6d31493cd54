-- Draws fences. Returns the first and their number, or an error. Uses `call` and `now`.
-- The server's clock is the floor, and a block reaches back to the previous grant, as in acquire.
local function draw(wanted, retention)
    local counter, floor, stored = KEYS[2], now * 2, nil
    if retention ~= '0' then
        stored = redis.pcall('SET', counter, string.format('%d', floor), 'PX', retention, 'GET')
    else
        stored = redis.pcall('SET', counter, string.format('%d', floor), 'GET')
    end
    if type(stored) == 'table' then
        return stored
    end
    local last = 0
    if stored then
        last = tonumber(stored)
        if not last or last % 1 ~= 0 or last >= 9007199254740991 then
            call('SET', counter, stored)
            return redis.error_reply('WRONGTYPE the key ' .. counter .. ' holds no fence')
        end
    end
    local first, count = floor, 1
    if last >= floor then
        first = last + 1
    elseif stored and wanted ~= '1' then
        count = math.min(tonumber(wanted), floor - last, 10000)
        first = floor - count + 1
    end
    if first > floor then
        local top = string.format('%d', first)
        if retention ~= '0' then
            call('SET', counter, top, 'PX', retention)
        else
            call('SET', counter, top)
        end
    end
    return first, count
end
