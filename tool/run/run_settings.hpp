#ifndef LEASEHOLD_TOOL_RUN_RUN_SETTINGS_HPP
#define LEASEHOLD_TOOL_RUN_RUN_SETTINGS_HPP

#include <leasehold/owner.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool {

/// The checked arguments of `leasehold run`.
struct run_settings
{
    std::string url;
    std::vector<std::string> keys; ///< In the order of the command line; no two are the same.
    std::vector<std::string> command;
    std::string program{}; ///< The command's name, which 'leasehold ls' shows.
    std::chrono::milliseconds lease_time{};
    std::optional<std::chrono::milliseconds> wait{}; ///< Without a value: no limit.
    std::chrono::milliseconds hold_at_least{};       ///< From the acquisition of the last lock.
    std::chrono::milliseconds term_before{};         ///< Before the deadline.
    std::chrono::milliseconds kill_before{};
    std::map<std::string, owner> owners{}; ///< The owners of keys to acquire reentrantly.
    bool quiet = false;                    ///< Without reports of long waits.
    bool verbose = false;
};

} // namespace leasehold::tool

#endif
