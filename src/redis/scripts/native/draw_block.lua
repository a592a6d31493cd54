-- Draws a block of fences above the floor, and returns the last one and their number, or an error.
-- A lost counter begins again at the server's clock, two fences for each microsecond, which must be
-- above all earlier fences. So a block of several fences never ends after the clock. If the counter
-- may have gone back, a block begins at most its own length, half a millisecond, before the clock:
-- no server restarts faster.
local function draw(fences, bound)
    local last = redis.pcall('INCRBY', KEYS[2], fences)
    if type(last) ~= 'number' then
        return last
    end
    local wanted, clock, floor = fences + 0, now * 2, bound + 0
    local begin = last - wanted
    if floor <= 0 then
        local was_there = begin > 0 and begin >= -floor
        begin = math.max(begin, -floor, was_there and clock - wanted or clock)
    elseif begin < floor then
        begin = math.max(floor, clock)
    end
    local count = math.max(1, math.min(wanted, clock - begin))
    if begin + count ~= last then
        last = begin + count
        call('SET', KEYS[2], string.format('%.0f', last))
    end
    return last, count
end
