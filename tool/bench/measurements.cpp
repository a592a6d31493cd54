#include "measurements.hpp"

#include "../json.hpp"
#include "../percentile.hpp"

#include <cstdio>

namespace leasehold::tool::bench {
namespace {

std::string fixed(double number, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

std::string in_milliseconds(nanoseconds time)
{
    return fixed(static_cast<double>(time.count()) / 1e6, 3) + " ms";
}

std::string described(const durations& of)
{
    return "median " + in_milliseconds(of.percentile(50)) + ", 99 % " +
           in_milliseconds(of.percentile(99)) + ", worst " + in_milliseconds(of.percentile(100));
}

void add(json_writer& to, std::string_view name, const durations& of)
{
    to.key(name).begin_object();
    to.key("count").number(static_cast<std::int64_t>(of.size()));
    for (const auto& [key, percent] : {std::pair<const char*, double>{"p50_us", 50},
                                       {"p90_us", 90},
                                       {"p99_us", 99},
                                       {"p999_us", 99.9},
                                       {"max_us", 100}})
        to.key(key).number(static_cast<double>(of.percentile(percent).count()) / 1e3);
    to.end_object();
}

void add(json_writer& to, std::string_view name, const std::optional<double>& of)
{
    to.key(name);
    of ? to.number(*of) : to.null();
}

} // namespace

nanoseconds durations::percentile(double percent) const
{
    return tool::percentile(all_, percent);
}

std::string as_text(const measurements& of)
{
    std::string text = "one lock after the other\n";
    text += "  acquire   " + described(of.acquire) + "\n";
    text += "  release   " + described(of.release) + "\n";
    text += "  together  " + fixed(of.locks_a_second, 0) + " locks a second\n";
    text += std::to_string(of.coroutines) + " at a time, each its own lock\n";
    text += "  together  " + fixed(of.locks_a_second_together, 0) + " locks a second\n";
    if (of.server_microseconds)
        text += "  servers   " + fixed(*of.server_microseconds, 1) + " µs of CPU time and " +
                fixed(of.server_commands.value_or(0), 1) + " commands for each\n";
    text += "one lock, two clients in turn\n";
    text += "  handoff   " + described(of.handoff) + "\n";
    text += "  together  " + fixed(of.handoffs_a_second, 0) + " a second\n";
    return text;
}

std::string as_json(const measurements& of)
{
    json_writer to;
    to.begin_object();
    to.key("single").begin_object();
    add(to, "acquire", of.acquire);
    add(to, "release", of.release);
    to.key("locks_per_second").number(of.locks_a_second);
    to.end_object();
    to.key("many").begin_object();
    to.key("coroutines").number(static_cast<std::int64_t>(of.coroutines));
    to.key("locks_per_second").number(of.locks_a_second_together);
    add(to, "server_cpu_us_per_lock", of.server_microseconds);
    add(to, "server_commands_per_lock", of.server_commands);
    to.end_object();
    to.key("handoff").begin_object();
    add(to, "time", of.handoff);
    to.key("per_second").number(of.handoffs_a_second);
    to.end_object();
    to.end_object();
    return to.str() + "\n";
}

} // namespace leasehold::tool::bench
