#include "testing/server/script_mutants.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {
namespace {

using redis_store::script;

constexpr std::array patches{
    // The owner of the lock.
    script_patch{mutant::owner_by_prefix,
                 "value == owner or value and string.sub(value, 1, #owner + 1) == owner .. '|'",
                 "value and string.sub(value, 1, #owner) == owner"},
    script_patch{mutant::owner_by_prefix, "string.sub(reply, 1, mark) == owner .. '|'",
                 "string.sub(reply, 1, #owner) == owner"},
    script_patch{mutant::late_acquire_runs, "now > ARGV[4] + 0", "false"},
    script_patch{mutant::late_acquire_runs, "now > ARGV[3] + 0", "false",
                 known_script::native_reenter},
    script_patch{mutant::late_acquire_runs, "now > ARGV[6] + 0", "false",
                 known_script::native_leave},
    script_patch{mutant::late_acquire_runs, "now > ARGV[9] + 0", "false",
                 known_script::queue_leave},
    script_patch{mutant::release_of_another, "redis.call('GET', KEYS[1]) == ARGV[1]",
                 "redis.call('GET', KEYS[1])", known_script::native_release},
    script_patch{mutant::release_of_another, "values[i] == owners[i]", "values[i]",
                 known_script::native_release_all},
    script_patch{mutant::release_of_another, "redis.pcall('HGET', lock, ARGV[2 * i - 1]) == '1'",
                 "call('EXISTS', lock) == 1", known_script::release_all},
    script_patch{mutant::group_drops_name, "call('DEL', lock)\n",
                 "if i ~= 2 then call('DEL', lock) end\n", known_script::release_all},
    script_patch{
        mutant::group_drops_name, "if values[i] == owners[i] then",
        "result[i] = values[i] == owners[i] and 1 or 0\nif result[i] == 1 and i ~= 2 then"},
    script_patch{mutant::release_of_another, "if call('HGET', lock, ARGV[1]) ~= '1'",
                 "if not call('HGET', lock, ARGV[1]) and call('DEL', lock) == 1 then return 0 end\n"
                 "if call('HGET', lock, ARGV[1]) ~= '1'"},
    script_patch{
        mutant::marked_value_released, "if redis.call('GET', KEYS[1]) == ARGV[1] then",
        "local value, mark = redis.call('GET', KEYS[1]), #ARGV[1] + 1\n"
        "if value and (value == ARGV[1] or string.sub(value, 1, mark) == ARGV[1] .. '|' and\n"
        "not string.find(value, 'e', mark, true)) then",
        known_script::native_release},
    script_patch{mutant::marked_renewal_refused, "ours = true\n",
                 "ours = not string.find(reply, 'w', mark, true)\n"},
    script_patch{mutant::renewal_creates, "result[i] = ours and 1 or 0\n",
                 "result[i] = ours and 1 or 0\n"
                 "if not reply then pcall('SET', lock, owner, 'PX', lease) result[i] = 1 end\n"},
    script_patch{mutant::renewal_creates, "result[i] = entered and 2 or ours and 1 or 0\n",
                 "result[i] = entered and 2 or ours and 1 or 0\n"
                 "if not reply then pcall('SET', lock, owner, 'PX', lease) result[i] = 1 end\n"},
    script_patch{mutant::renewal_creates, "else\nresult[i] = 0\n",
                 "elseif reply == 0 and redis.pcall('PTTL', KEYS[i]) == -2 then\n"
                 "redis.pcall('HSET', KEYS[i], ARGV[2 * i - 1], '1')\n"
                 "reply = redis.pcall('PEXPIRE', KEYS[i], ARGV[2 * i])\n"
                 "result[i] = 1\n"
                 "else\nresult[i] = 0\n",
                 known_script::renew},
    script_patch{mutant::entries_not_extended, "if entered and reply == 1 then", "if false then"},
    script_patch{mutant::entries_overlooked, "result[i] = entered and 2",
                 "entered = false\nresult[i] = entered and 2"},
    script_patch{mutant::first_entry_forgotten, "'', 1, ARGV[4], 1", "ARGV[4], 1"},
    script_patch{mutant::repeated_entry_adds, "if call('HSET', lock, marker, 1) == 1 then",
                 "if call('HSET', lock, marker, 1) then"},
    script_patch{mutant::repeated_acquire_adds, "if ours then\n",
                 "if ours then\ncall('HINCRBY', lock, owner, 1)\n"},
    script_patch{mutant::claim_not_extended, "local left = call('PTTL', lock)\nif left >= 0 and",
                 "local left = -1\nif left >= 0 and", known_script::native_acquire},
    script_patch{mutant::claim_not_extended, "local left = call('PTTL', lock)\nif left >= 0 and",
                 "local left = -1\nif left >= 0 and", known_script::queue_acquire},
    // Fences.
    script_patch{mutant::floor_not_raised, "if floor <= 0 then",
                 "if true then\nelseif floor <= 0 then"},
    script_patch{mutant::blocks_beyond_clock, "math.max(1, math.min(wanted, clock - begin))",
                 "math.max(1, wanted)"},
    script_patch{mutant::counter_not_raised, "if stored and stored + 0 >= least then",
                 "if true then return {stored and stored + 0 or 1} end\n"
                 "if stored and stored + 0 >= least then"},
    script_patch{mutant::fence_without_clock, "if last >= floor then", "if true then"},
    script_patch{mutant::fence_without_clock, "if first > floor then", "if true then"},
    script_patch{mutant::turn_without_fence,
                 "local first, count = draw(ARGV[3], ARGV[5])\n"
                 "if type(first)",
                 "local first, count = call('GET', KEYS[2]), 1\n"
                 "if first then first = first + 0 else first, count = draw(ARGV[3], ARGV[5]) "
                 "end\nif type(first)",
                 known_script::queue_acquire},
    // The heartbeats.
    script_patch{mutant::grant_without_record,
                 " and not redis.pcall('SET', KEYS[5], run, 'PX', kept).err", ""},
    script_patch{mutant::entry_keeps_promise,
                 "string.gsub(string.sub(value, #owner + 2), 'g%d*', '')",
                 "string.sub(value, #owner + 2)"},
    script_patch{mutant::promise_inherited,
                 "(ARGV[10] or string.find(value, 'g', #owner + 1, true)) and", "ARGV[10] and"},
    script_patch{mutant::polls_renew, "silence = grace - (kept - left)\n",
                 "silence = grace - (kept - left)\ncall('PEXPIRE', record, kept)\n"},
    script_patch{mutant::half_grace, "silence = grace - (kept - left)\n",
                 "silence = math.floor(grace / 2) - (kept - left)\n"},
    script_patch{mutant::unrecorded_is_dead, "elseif type(known) ~= 'table' then\n",
                 "else\nsilence = 0 end\nif false then\n"},
    script_patch{mutant::no_record_by_poll, "redis.pcall('SET', record, run, 'PX', kept)\n", ""},
    script_patch{mutant::superseded_in_two, "if silence and silence <= 0 then\nvalue = nil",
                 "end\n"
                 "local found = 'found:' .. owner .. ' ' .. lock\n"
                 "do\nif call('DEL', found) == 1 then value = nil\n"
                 "elseif silence and silence <= 0 then\n"
                 "call('SET', found, '1', 'PX', kept)\nsilence = 0"},
    script_patch{mutant::sign_not_recorded, "if redis.call('GET', KEYS[1]) == run then",
                 "if true then return {1} end\nif redis.call('GET', KEYS[1]) == run then"},
    // The queue.
    script_patch{mutant::mark_forgotten, "local more = who and call('EXISTS', KEYS[3]) == 1",
                 "local more = false"},
    script_patch{mutant::claim_without_end, "more and owner .. '|w' or owner, 'PX', ttl)",
                 "more and owner .. '|w' or owner)"},
    script_patch{mutant::claim_without_end, "redis.pcall('PEXPIRE', lock, ttl)", "1"},
    script_patch{mutant::waiter_not_marked, "if known then\nif not flags",
                 "if false then\nif not flags"},
    script_patch{mutant::external_value_marked, "if known then\nif not flags",
                 "if true then\nif not flags"},
    script_patch{mutant::try_overtakes, "(open - now) / 1000), place, 0, now}\nend\n",
                 "(open - now) / 1000), place, 0, now}\nend\nif not waits then who = nil end\n"},
    script_patch{mutant::assigned_stays_in_queue,
                 "call('LPOP', KEYS[3])\ncall('HDEL', KEYS[4], who)\nreturn grant", "return grant"},
    script_patch{mutant::assigned_stays_in_queue,
                 "call('LPOP', KEYS[3])\ncall('HDEL', KEYS[4], who)\ngrant(who", "grant(who"},
    script_patch{mutant::absent_not_passed, "there + 0 >= now and\n", "true and\n"},
    script_patch{mutant::absent_not_passed, "listens == '0')", "true)"},
    script_patch{mutant::presence_not_renewed,
                 "local function join()\nif call('HSET', KEYS[4], self",
                 "local function join()\nif call('HEXISTS', KEYS[4], self) == 1 then\n"
                 "return call('LPOS', KEYS[3], self, 'MAXLEN', 32) or 0\nend\n"
                 "if call('HSET', KEYS[4], self"},
    script_patch{mutant::join_not_idempotent, "entry) == 1 then\n", "entry) then\n"},
    script_patch{mutant::join_not_idempotent, "if added == 1 then", "if added then"},
    script_patch{mutant::queue_not_left, "if ARGV[2] == '' and call('HDEL', KEYS[4]",
                 "if false and call('HDEL', KEYS[4]"},
    script_patch{mutant::repeated_release_joins,
                 "if value then\nreturn {status, 0, 0, 0, now}\nend\nnext = ''",
                 "if not value then"},
    script_patch{mutant::repeated_release_joins,
                 "return {status, 0, 0, 0, now}\nend\nend\nif next ~= ''",
                 "return {status, 0, 0, 0, now}\nend\nend\nend\nif next ~= ''"},
    script_patch{mutant::repeated_release_joins, "return {status, 0, 0, 0, 0, now}\nend\nnext = ''",
                 "else"},
    script_patch{mutant::repeated_release_joins,
                 "return {status, 0, 0, 0, 0, now}\nend\nend\nif next ~= ''",
                 "return {status, 0, 0, 0, 0, now}\nend\nend\nend\nif next ~= ''"},
    // A held lock still does not change its owner.
    script_patch{mutant::repeated_release_joins, "if status == 2 then\nif next",
                 "if status == 2 or status ~= 1 and value then\nif next",
                 known_script::native_leave},
    script_patch{mutant::repeated_release_joins, "if status == 2 then\nif next",
                 "if status == 2 or not count and call('EXISTS', lock) == 1 then\nif next",
                 known_script::queue_leave},
    script_patch{mutant::repeated_release_joins, "return {2, ", "return {status, ",
                 known_script::native_leave},
    script_patch{mutant::repeated_release_joins, "return {2, ", "return {status, ",
                 known_script::queue_leave},
    script_patch{mutant::queue_not_seen, "KEYS[3] or lock", "lock"},
    script_patch{mutant::queue_not_seen, "left == -2 and KEYS[3]", "false"},
    script_patch{mutant::queue_not_served, "KEYS[2] and call('EXISTS', KEYS[2]) == 1", "false"},
    script_patch{mutant::queue_not_served, "call('EXISTS', unpack(queues)) > 0", "false"},
    // Turns of external clients.
    script_patch{mutant::external_turn_cut_short, "if till and there +", "if false and there +"},
    script_patch{mutant::external_turn_without_end, "till + 0 > now and till - now <= 1000000",
                 "till - now <= 1000000"},
    script_patch{mutant::external_turn_left_short, "if open then\nreturn {status",
                 "if false then\nreturn {status"},
    script_patch{mutant::external_turn_not_left, "if (chance == 0 or",
                 "if false and (chance == 0 or"},
    script_patch{mutant::external_turn_drops_first, "call('DEL', lock)\nreturn true\n",
                 "call('DEL', lock)\ncall('LPOP', KEYS[3])\ncall('HDEL', KEYS[4], first)\n"
                 "return true\n"},
    script_patch{mutant::external_turn_not_published, "if there and there + 0 >= now and",
                 "if there and turn ~= 0 or there and there + 0 >= now and",
                 known_script::native_leave},
    script_patch{mutant::external_turn_not_published, "if there and there + 0 >= now and",
                 "if there and turn ~= 0 or there and there + 0 >= now and",
                 known_script::queue_leave},
    // Members of a quorum.
    script_patch{mutant::equal_fence_accepted, "if first > last then", "if first >= last then"},
    script_patch{mutant::longest_lease_forgotten, "(known[6] or 0) + 0, ARGV[5] + 0",
                 "(known[6] or 0) + 0, 0"},
    script_patch{mutant::silence_ignored, "over = math.min(over, ms + ARGV[4])", "over = ms"},
    script_patch{mutant::entry_not_written_back,
                 "if not entered and (listed or entry ~= 'e:') then\nif not create then\nreturn 2",
                 "if not entered and (listed or entry ~= 'e:') then\nif not create then\nreturn 0"},
};

bool concerns(const script_patch& each, const script& source)
{
    return !each.only || source.sha == source_of(*each.only).sha;
}

} // namespace

std::string with_mutant(const script& source, mutant error)
{
    std::string text(source.text);
    for (const script_patch& each : patches) {
        if (each.error != error || !concerns(each, source))
            continue;
        for (std::size_t at = 0; (at = text.find(each.text, at)) != std::string::npos;
             at += each.instead.size())
            text.replace(at, each.text.size(), each.instead);
    }
    return text;
}

std::span<const script_patch> patches_of_scripts() noexcept
{
    return patches;
}

const script_patch* find_stale_patch(std::span<const script_patch> among)
{
    const auto changes = [](const script_patch& each) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(known_script::count_); ++i) {
            const script& source = source_of(static_cast<known_script>(i));
            if (concerns(each, source) && source.text.find(each.text) != std::string_view::npos)
                return true;
        }
        return false;
    };
    const auto stale = std::find_if_not(among.begin(), among.end(), changes);
    return stale == among.end() ? nullptr : &*stale;
}

} // namespace leasehold::testing::impl
