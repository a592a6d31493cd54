#ifndef LEASEHOLD_TOOL_DOCTOR_ETCD_FACTS_HPP
#define LEASEHOLD_TOOL_DOCTOR_ETCD_FACTS_HPP

#include <leasehold/etcd_config.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool::doctor {

/// The facts that a client can read from one etcd server.
struct etcd_facts
{
    std::string name;
    std::string version;
    std::string cluster;                          ///< The id of the cluster.
    bool leads = false;                           ///< It is the leader.
    std::int64_t database = 0;                    ///< The size of its file, in bytes.
    std::chrono::seconds granted{};               ///< The TTL of a lease, for the requested one.
    std::vector<std::chrono::microseconds> pings; ///< Linearizable requests.
    std::vector<std::string> members;             ///< By their names.
    /// "NOSPACE", "CORRUPT". None: they may not be read.
    std::optional<std::vector<std::string>> alarms;
};

/// @param where The server, and no other one.
/// @throws unreachable, refused
[[nodiscard]] etcd_facts ask_etcd(const etcd_config& where);

} // namespace leasehold::tool::doctor

#endif
