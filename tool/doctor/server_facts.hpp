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

/// A reading of a server's clock.
struct clock_reading
{
    microseconds sent{};     ///< Time of the query, on a steady clock of this machine.
    microseconds answered{}; ///< Time of the reply, on the same clock.
    microseconds before{};   ///< Time of the query, on the wall clock of this machine.
    microseconds after{};    ///< Time of the reply, on the wall clock.
    microseconds there{};    ///< Time of the server's clock.
};

/// A replica, as its master reports it.
struct replica_facts
{
    std::string address;
    bool online = false;
    std::int64_t bytes_behind = 0;
};

/// A command that the library sends, and if the user may use it.
struct right
{
    std::string command;    ///< "set"
    bool is_needed = false; ///< Locks do not work without it.
    std::string without{};  ///< The effect of its absence, if locks work without it.
    /// The server's reason for a rejection; empty: the user may use it.
    std::string refusal{};
};

/// The data that a server reports, without conclusions.
struct server_facts
{
    std::string name;
    std::map<std::string, std::string, std::less<>> info{};
    /// The queries that the user may not send, with the server's replies.
    std::map<std::string, std::string, std::less<>> refused{};
    std::map<std::string, std::string, std::less<>> settings{}; ///< CONFIG GET
    std::vector<clock_reading> clock{};
    std::vector<microseconds> pings{};
    std::vector<microseconds> scripts{};
    /// Without a value: the query failed.
    std::optional<std::vector<right>> rights{};
    std::string user{};

    /// Empty: the server does not report it.
    [[nodiscard]] std::string_view value(std::string_view key) const noexcept;
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const noexcept;
    [[nodiscard]] std::string_view setting(std::string_view key) const noexcept;
    /// 0: the server does not report it, or it is no number.
    [[nodiscard]] std::int64_t setting_number(std::string_view key) const noexcept;

    [[nodiscard]] bool is_valkey() const noexcept;
    /// "7.0.15"; for Valkey, the version of Valkey.
    [[nodiscard]] std::string_view version() const noexcept;
    /// "standalone", "cluster" or "sentinel". Valkey 9 reports it under another name.
    [[nodiscard]] std::string_view mode() const noexcept;
    [[nodiscard]] bool is_at_least(int major, int minor) const noexcept;
    [[nodiscard]] bool is_master() const noexcept { return value("role") == "master"; }
    [[nodiscard]] std::vector<replica_facts> replicas() const;
    [[nodiscard]] bool has_append_only_file() const noexcept;
    [[nodiscard]] bool has_snapshots() const noexcept;
};

} // namespace leasehold::tool::doctor

#endif
