#include "testing/line_model.hpp"

#include "base/mutant.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>

namespace leasehold::testing::impl {

std::int64_t number_of(std::string_view text)
{
    return to_integer(text).value_or(0);
}

bool is_late(std::string_view latest, std::int64_t now)
{
    return latest != "0" && now > number_of(latest) && !has(mutant::late_acquire_runs);
}

std::optional<waiter> waiter_of(std::string_view text)
{
    std::array<std::string, 5> parts;
    std::size_t at = 0;
    std::size_t end = 0; // behind the first four
    for (std::size_t i = 0; i < text.size() && at < parts.size(); ++i) {
        const char c = text[i];
        if (c == ' ' && !parts[at].empty() && at + 1 < parts.size()) {
            ++at;
        }
        else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            parts[at] += c;
            if (at == 3 && end == 0)
                end = i + 1;
        }
        else {
            parts[4].clear(); // the text goes on
            break;
        }
    }
    if (end == 0)
        return std::nullopt;
    const bool ends = text.size() == end + 1 + parts[4].size() && parts[3].size() == 1;
    return waiter{std::strtod(parts[0].c_str(), nullptr), number_of(parts[1]), number_of(parts[2]),
                  parts[3][0] != '0',
                  ends && !parts[4].empty() ? std::strtod(parts[4].c_str(), nullptr) : 0};
}

std::string first_four(const std::string& text)
{
    std::size_t end = 0;
    for (int spaces = 0; spaces < 3; ++end)
        spaces += text[end] == ' ' ? 1 : 0;
    return text.substr(0, end + 1);
}

namespace {

/// Tells an owner that it has its turn.
bool told(script_calls& redis, std::string_view who, const keys_of_line& of)
{
    std::string channel(of.turns);
    channel += who.starts_with("lh:") ? who.substr(3, who.find(':', 3) - 3) : std::string_view();
    std::string text(who);
    text.append(" ").append(of.lock);
    try {
        return redis.publish(channel, text) != 0;
    }
    catch (const command_error&) {
        return true;
    }
}

} // namespace

bool is_there(script_calls& redis, const waiter& each, std::string_view who, const keys_of_line& of,
              std::int64_t now)
{
    if (has(mutant::absent_not_passed)) {
        static_cast<void>(told(redis, who, of));
        return true;
    }
    return each.there >= static_cast<double>(now) && (told(redis, who, of) || !each.listens);
}

void leave_line(script_calls& redis, const keys_of_line& of, std::string_view who)
{
    redis.lpop(of.line);
    redis.hdel(of.waiters, who);
}

std::string entry_of(std::int64_t now, std::string_view presence, std::string_view lease,
                     std::string_view claim, std::string_view listens)
{
    std::string entry = whole(static_cast<double>(now) +
                              static_cast<double>(number_of(presence)) * 1000);
    for (const std::string_view each : {lease, claim, listens})
        entry.append(" ").append(each);
    return entry;
}

std::int64_t join_line(script_calls& redis, const keys_of_line& of, std::string_view who,
                       const std::string& entry, bool* refused)
{
    if (has(mutant::presence_not_renewed) && redis.hexists(of.waiters, who))
        return static_cast<std::int64_t>(redis.lpos(of.line, who, 32).value_or(0));
    bool added = false;
    try {
        added = redis.hset(of.waiters, who, entry);
    }
    catch (const command_error&) {
        if (refused == nullptr)
            throw;
        *refused = true;
        return -1;
    }
    if (added || has(mutant::join_not_idempotent))
        return static_cast<std::int64_t>(redis.rpush(of.line, who)) - 1;
    const auto place = redis.lpos(of.line, who, 32);
    return place ? static_cast<std::int64_t>(*place) : -2;
}

std::optional<double> left_free(script_calls& redis, const keys_of_line& of,
                                const optional_text& first, std::int64_t now)
{
    const std::string* const known = first ? redis.hget(of.waiters, *first) : nullptr;
    const auto each = known == nullptr ? std::nullopt : waiter_of(*known);
    if (!each || has(mutant::foreign_turn_cut_short))
        return std::nullopt;
    const double left = each->open - static_cast<double>(now);
    const bool over = left <= 0 && !(has(mutant::foreign_turn_without_end) && each->open != 0);
    if (over || left > 1'000'000 || each->there < static_cast<double>(now))
        return std::nullopt;
    return each->open;
}

} // namespace leasehold::testing::impl
