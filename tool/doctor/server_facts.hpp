#ifndef LEASEHOLD_TOOL_DOCTOR_SERVER_FACTS_HPP
#define LEASEHOLD_TOOL_DOCTOR_SERVER_FACTS_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {

using std::chrono::microseconds;

/// What a server's clock said, and when.
struct clock_look
{
    microseconds asked{};    ///< On a clock of this machine that nobody sets; before it was asked,
    microseconds answered{}; ///< and when the answer was there.
    microseconds before{};   ///< The same, on this machine's wall clock.
    microseconds after{};
    microseconds there{}; ///< What the server's clock said in between.
};

/// A replica, as its master sees it.
struct replica_facts
{
    std::string address;
    bool online = false;
    std::int64_t bytes_behind = 0;
};

/// A command that the library sends, and what the server would say to it.
struct right
{
    std::string command;    ///< "set"
    bool is_needed = false; ///< Without it locks do not work.
    std::string without{};  ///< What happens without it, where locks do work.
    /// What the server would say; empty: it would do it.
    std::string refusal{};
};

/// What a server says of itself. Pure data: what it means is judged elsewhere.
struct server_facts
{
    std::string name;
    std::map<std::string, std::string, std::less<>> info{};
    /// What the user may not ask; each with the server's words.
    std::map<std::string, std::string, std::less<>> refused{};
    std::map<std::string, std::string, std::less<>> settings{}; ///< CONFIG GET
    std::vector<clock_look> clock{};
    std::vector<microseconds> pings{};
    std::vector<microseconds> scripts{};
    /// Nothing: could not be asked.
    std::optional<std::vector<right>> rights{};
    std::string user{};

    /// Empty: the server does not say.
    [[nodiscard]] std::string_view value(std::string_view key) const noexcept;
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const noexcept;
    [[nodiscard]] std::string_view setting(std::string_view key) const noexcept;

    [[nodiscard]] bool is_valkey() const noexcept;
    /// "7.0.15"; of Valkey its own.
    [[nodiscard]] std::string_view version() const noexcept;
    /// "standalone", "cluster" or "sentinel"; Valkey 9 has another name for it.
    [[nodiscard]] std::string_view mode() const noexcept;
    [[nodiscard]] bool is_at_least(int major, int minor) const noexcept;
    [[nodiscard]] bool is_master() const noexcept { return value("role") == "master"; }
    [[nodiscard]] std::vector<replica_facts> replicas() const;
    [[nodiscard]] bool has_append_only_file() const noexcept;
    [[nodiscard]] bool has_snapshots() const noexcept;
};

} // namespace leasehold::tool::doctor

#endif
