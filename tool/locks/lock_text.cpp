#include "lock_text.hpp"

#include "terminal.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace leasehold::tool {
namespace {

using detail::printable;
using std::chrono::milliseconds;

std::string or_dash(std::string text)
{
    return text.empty() ? "-" : text;
}

std::string silence_text(const lock_state& lock)
{
    return life_text(lock.silent) + (*lock.silent < longest_silence ? "" : " or longer");
}

void add_time(json_writer& to, std::string_view key, std::optional<milliseconds> time)
{
    to.key(key);
    if (time)
        to.number(static_cast<std::int64_t>(time->count()));
    else
        to.null();
}

std::string fence_text(const lock_state& lock)
{
    return lock.fence_at_most ? std::to_string(*lock.fence_at_most) : std::string();
}

void add_text(json_writer& to, std::string_view key, const std::string& value)
{
    to.key(key);
    if (value.empty())
        to.null();
    else
        to.text(value);
}

void add_info(json_writer& to, const client_info& info)
{
    add_text(to, "program", info.program);
    add_text(to, "host", info.host);
    to.key("pid");
    if (info.pid > 0)
        to.number(info.pid);
    else
        to.null();
    add_text(to, "since", time_text(info.since));
    add_text(to, "version", info.version);
}

std::string life_of(const lock_state& lock)
{
    const bool of_session = lock.kind == lock_kind::zookeeper || lock.kind == lock_kind::etcd;
    return of_session ? "session" : life_text(lock.left);
}

} // namespace

std::string life_text(std::optional<milliseconds> left)
{
    if (!left)
        return "no limit";
    const auto ms = std::max<milliseconds::rep>(left->count(), 0);
    char text[48];
    if (ms < 60'000)
        std::snprintf(text, sizeof text, "%lld.%llds", static_cast<long long>(ms / 1'000),
                      static_cast<long long>(ms % 1'000 / 100));
    else if (ms < 3'600'000)
        std::snprintf(text, sizeof text, "%lldm%02llds", static_cast<long long>(ms / 60'000),
                      static_cast<long long>(ms % 60'000 / 1'000));
    else
        std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(ms / 3'600'000),
                      static_cast<long long>(ms % 3'600'000 / 60'000));
    return text;
}

std::string time_text(std::chrono::sys_time<milliseconds> at)
{
    return detail::time_text(at, "T", "Z");
}

std::string silent_text(const lock_state& lock)
{
    return lock.is_silent() ? "silent for " + silence_text(lock) : std::string();
}

std::vector<std::string> lock_table(std::span<const lock_state> locks, std::size_t columns)
{
    constexpr std::size_t count = 9;
    using row = std::array<std::string, count>;
    std::vector<row> rows{
        {"NAME", "HOLDER", "PROGRAM", "HOST", "PID", "SINCE", "LEFT", "FENCE<=", "WAITERS"}};
    const bool quorum = std::any_of(locks.begin(), locks.end(),
                                    [](const lock_state& lock) { return lock.of > 0; });
    if (quorum)
        rows.front()[1] = "HOLDER (MEMBERS)";
    for (const lock_state& lock : locks) {
        std::string holder = or_dash(lock.client);
        if (lock.of > 0)
            holder += " (" + std::to_string(lock.members) + "/" + std::to_string(lock.of) + ")";
        if (lock.is_silent())
            holder += " (" + silent_text(lock) + ")";
        rows.push_back({printable(lock.name), holder, or_dash(printable(lock.info.program)),
                        or_dash(printable(lock.info.host)),
                        lock.info.pid > 0 ? std::to_string(lock.info.pid) : "-",
                        or_dash(time_text(lock.info.since)), life_of(lock),
                        or_dash(fence_text(lock)), std::to_string(lock.waiters)});
    }
    std::array<std::size_t, count> widths{};
    for (const row& each : rows) {
        for (std::size_t i = 0; i < count; ++i)
            widths[i] = std::max(widths[i], width_of(each[i]));
    }
    // Long names are cut, so that the other columns stay visible.
    if (columns > 0) {
        std::size_t rest = 2 * (count - 1);
        for (std::size_t i = 1; i < count; ++i)
            rest += widths[i];
        const std::size_t least = 12;
        widths[0] = std::min(widths[0], std::max(least, columns > rest ? columns - rest : 0));
    }
    std::vector<std::string> lines;
    for (const row& each : rows) {
        std::string line;
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0)
                line += "  ";
            line += fit(each[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        if (columns > 0 && width_of(line) > columns)
            line = fit(line, columns);
        lines.push_back(std::move(line));
    }
    return lines;
}

void write_json(json_writer& to, const lock_state& lock)
{
    to.begin_object();
    to.key("name").text(lock.name).key("layout").text(name_of(lock.kind));
    add_text(to, "owner", lock.owner);
    add_text(to, "client", lock.client);
    add_info(to, lock.info);
    add_time(to, "left_ms", lock.left);
    add_time(to, "silent_ms", lock.silent);
    add_time(to, "dead_holder_grace_ms", lock.grace);
    to.key("fence_at_most");
    if (lock.fence_at_most)
        to.number(static_cast<std::int64_t>(*lock.fence_at_most));
    else
        to.null();
    to.key("holds").number(static_cast<std::int64_t>(lock.holds));
    to.key("waiters").number(static_cast<std::int64_t>(lock.waiters));
    if (lock.of > 0) {
        to.key("members").number(static_cast<std::int64_t>(lock.members));
        to.key("of").number(static_cast<std::int64_t>(lock.of));
    }
    if (!lock.queue.empty()) {
        to.key("queue").begin_array();
        for (const lock_waiter& each : lock.queue)
            write_json(to, each);
        to.end_array();
    }
    to.end_object();
}

void write_json(json_writer& to, const lock_waiter& waiter)
{
    to.begin_object();
    add_text(to, "owner", waiter.owner);
    add_text(to, "client", waiter.client);
    add_info(to, waiter.info);
    to.key("present").boolean(waiter.present).end_object();
}

std::string lock_details(const lock_state& lock)
{
    std::string text;
    const auto line = [&](std::string_view label, const std::string& value) {
        if (!value.empty())
            text.append(fit(label, 12)).append(value).append("\n");
    };
    line("name", printable(lock.name));
    line("layout", lock.kind == lock_kind::external ? "of another library" : name_of(lock.kind));
    line("owner", printable(lock.owner));
    line("client", lock.client);
    line("program", printable(lock.info.program));
    line("host", printable(lock.info.host));
    line("pid", lock.info.pid > 0 ? std::to_string(lock.info.pid) : std::string());
    line("since", time_text(lock.info.since));
    line("version", printable(lock.info.version));
    line("time left", life_of(lock));
    if (lock.silent)
        line("silent for", silence_text(lock) + "; after " + life_text(lock.grace) +
                               " others may acquire the lock");
    line("fence", lock.fence_at_most ? "at most " + fence_text(lock) : std::string());
    line("held", lock.holds == 1 ? "once" : std::to_string(lock.holds) + " times by its owner");
    if (lock.of > 0)
        line("members", std::to_string(lock.members) + " of " + std::to_string(lock.of));
    line("waiters", std::to_string(lock.waiters));
    for (std::size_t i = 0; i < lock.queue.size(); ++i) {
        const lock_waiter& each = lock.queue[i];
        std::string waiter = printable(each.owner);
        if (const std::string process = process_text(each.info); !process.empty())
            waiter.append(" (").append(process).append(")");
        if (!each.present)
            waiter.append(", presence expired");
        line("  " + std::to_string(i + 1), waiter);
    }
    return text;
}

} // namespace leasehold::tool
