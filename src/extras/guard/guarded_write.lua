-- Runs commands, unless a larger fence has run any.
--
-- KEYS[1]    the key of the fence
-- KEYS[n+1]  the key of the n-th command
-- ARGV[1]    the fence
-- then for each command: the number of its words, its name, its arguments without the key
--
-- Returns a text: "done", "stale FENCE", "damaged", or "failed ERROR-OF-THE-SERVER".
--
-- Compares fences as text, because a number in Lua is exact to 53 bits only.
local fence = ARGV[1]
local kept = redis.call('GET', KEYS[1])
if kept then
  if #kept > 19 or not string.find(kept, '^[1-9]%d*$') then return 'damaged' end
  if #kept > #fence or (#kept == #fence and kept > fence) then return 'stale ' .. kept end
end
-- Before the commands: if one of them fails, an older fence must still be rejected.
if kept ~= fence then redis.call('SET', KEYS[1], fence) end
local at = 2
for n = 2, #KEYS do
  local last = at + tonumber(ARGV[at])
  local answer = redis.pcall(ARGV[at + 1], KEYS[n], unpack(ARGV, at + 2, last))
  if type(answer) == 'table' and answer.err then return 'failed ' .. answer.err end
  at = last + 1
end
return 'done'
