#include "server_facts.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace leasehold::tool::doctor {
namespace {

std::optional<std::int64_t> to_number(std::string_view text) noexcept
{
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// Returns the value of a name in "ip=127.0.0.1,port=6380,state=online".
std::string_view part_of(std::string_view line, std::string_view name) noexcept
{
    while (!line.empty()) {
        const std::string_view part = line.substr(0, line.find(','));
        if (part.starts_with(name) && part.substr(name.size()).starts_with('='))
            return part.substr(name.size() + 1);
        line.remove_prefix(std::min(part.size() + 1, line.size()));
    }
    return {};
}

} // namespace

std::string_view server_facts::value(std::string_view key) const noexcept
{
    const auto found = info.find(key);
    return found == info.end() ? std::string_view() : found->second;
}

std::optional<std::int64_t> server_facts::number(std::string_view key) const noexcept
{
    return to_number(value(key));
}

std::string_view server_facts::setting(std::string_view key) const noexcept
{
    const auto found = settings.find(key);
    return found == settings.end() ? std::string_view() : found->second;
}

std::int64_t server_facts::setting_number(std::string_view key) const noexcept
{
    return to_number(setting(key)).value_or(0);
}

bool server_facts::is_valkey() const noexcept
{
    return !value("valkey_version").empty();
}

std::string_view server_facts::version() const noexcept
{
    return is_valkey() ? value("valkey_version") : value("redis_version");
}

std::string_view server_facts::mode() const noexcept
{
    const std::string_view known = value("redis_mode");
    return known.empty() ? value("server_mode") : known;
}

bool server_facts::is_at_least(int major, int minor) const noexcept
{
    int found[2]{};
    std::string_view text = version();
    for (int& each : found) {
        const auto end = std::from_chars(text.data(), text.data() + text.size(), each).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.starts_with('.'))
            text.remove_prefix(1);
    }
    return found[0] > major || (found[0] == major && found[1] >= minor);
}

std::vector<replica_facts> server_facts::replicas() const
{
    std::vector<replica_facts> all;
    const std::int64_t written = number("master_repl_offset").value_or(0);
    for (int i = 0;; ++i) {
        const std::string_view line = value("slave" + std::to_string(i));
        if (line.empty())
            return all;
        all.push_back({std::string(part_of(line, "ip")) + ':' + std::string(part_of(line, "port")),
                       part_of(line, "state") == "online",
                       written - to_number(part_of(line, "offset")).value_or(written)});
    }
}

bool server_facts::has_append_only_file() const noexcept
{
    return value("aof_enabled") == "1";
}

bool server_facts::has_snapshots() const noexcept
{
    return !setting("save").empty();
}

} // namespace leasehold::tool::doctor
