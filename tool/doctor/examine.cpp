#include "examine.hpp"

#include "rights.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::duration_cast;

constexpr int latency_samples = 50;

microseconds now()
{
    // Like the clock of the library, this clock counts while the machine is suspended.
    return duration_cast<microseconds>(clock::now().time_since_epoch());
}

void read_info(const std::string& text, server_facts& facts)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = std::string_view(text).substr(begin, end - begin);
        begin = end + 1;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && !line.starts_with('#'))
            facts.info.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
}

void ask_settings(server_connection& server, server_facts& facts)
{
    for (const char* const name : {"appendfsync", "save", "min-replicas-to-write",
                                   "stop-writes-on-bgsave-error", "timeout"}) {
        const resp_value answer = server.ask({"CONFIG", "GET", name});
        if (answer.is_error()) {
            facts.refused.emplace("CONFIG GET", answer.text);
            return;
        }
        if (answer.items.size() == 2)
            facts.settings.emplace(name, answer.items[1].text);
    }
}

std::vector<microseconds> time(server_connection& server, const command_words& words,
                               server_facts& facts)
{
    std::vector<microseconds> found;
    for (int i = 0; i < latency_samples; ++i) {
        const microseconds began = now();
        const resp_value answer = server.ask(words);
        found.push_back(now() - began);
        if (answer.is_error()) {
            facts.refused.emplace(words.front(), answer.text);
            return {};
        }
    }
    return found;
}

} // namespace

server_summary summary_of(const server_facts& facts)
{
    server_summary shown{.name = facts.name, .pings = facts.pings, .scripts = facts.scripts};
    if (facts.info.empty())
        return shown;
    shown.product = facts.is_valkey() ? "Valkey" : "Redis";
    shown.version = facts.version();
    shown.role = facts.value("role");
    if (facts.is_master())
        shown.more.push_back(counted(facts.replicas().size(), "replica"));
    if (facts.has_append_only_file())
        shown.more.emplace_back("append-only file");
    return shown;
}

clock_reading read_clock(server_connection& server)
{
    clock_reading reading;
    const auto wall_clock = [] {
        return duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
    };
    reading.before = wall_clock();
    reading.sent = now();
    const resp_value answer = server.demand({"TIME"});
    reading.answered = now();
    reading.after = wall_clock();
    if (answer.items.size() == 2)
        reading.there = std::chrono::seconds(answer.items[0].to_number().value_or(0)) +
                        microseconds(answer.items[1].to_number().value_or(0));
    return reading;
}

server_facts examine(server_connection& server, const redis_config& where, const std::string& user,
                     const std::string& key)
{
    server_facts facts;
    facts.name = server.name();
    facts.user = user.empty() ? "default" : user;
    const resp_value info = server.ask({"INFO"});
    if (info.is_error())
        facts.refused.emplace("INFO", info.text);
    else
        read_info(info.text, facts);
    ask_settings(server, facts);
    try {
        facts.clock.push_back(read_clock(server));
    }
    catch (const refused& failed) {
        facts.refused.emplace("TIME", failed.what());
    }
    facts.pings = time(server, {"PING"}, facts);
    facts.scripts = time(server, {"EVAL", "return 1", "0"}, facts);
    ask_rights(server, where, key, facts);
    return facts;
}

} // namespace leasehold::tool::doctor
