#ifndef LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_FACTS_HPP
#define LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_FACTS_HPP

#include <leasehold/zookeeper_config.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool::doctor {

/// The facts that a client can read from one ZooKeeper server.
struct zookeeper_facts
{
    using milliseconds = std::chrono::milliseconds;

    /// A limit of a node and the nodes below it.
    struct quota
    {
        std::string node;
        std::string unit; ///< "nodes" or "bytes"
        std::int64_t used = 0;
        std::int64_t most = 0;
    };

    std::string name;
    std::string version;              ///< Empty: the server does not allow `srvr`.
    std::string role;                 ///< "leader", "standalone"; empty: the same.
    std::optional<milliseconds> tick; ///< Its `tickTime`, if it allows `conf`.
    milliseconds granted{};           ///< The session timeout, for the requested one.
    /// The timeout of a session that requests two ticks, which is granted by default.
    std::optional<milliseconds> shortest;
    std::vector<std::chrono::microseconds> pings; ///< Round trips to the leader.
    /// The servers that vote, by the configuration that the ensemble stores. Empty: the server is
    /// no part of an ensemble. None: it may not be read.
    std::optional<std::vector<std::string>> voters;
    std::vector<quota> quotas; ///< Of the root and of the nodes above it.
};

/// @param where The server, and no other one.
/// @param as    The configuration of the clients that are advised.
/// @throws unreachable, refused
[[nodiscard]] zookeeper_facts ask_zookeeper(const zookeeper_config& where,
                                            const zookeeper_config& as);

/// The voters in the content of the node `/zookeeper/config`.
[[nodiscard]] std::vector<std::string> voters_of(const std::string& config);

/// The quotas in the content of a node of limits, and of the node with their use.
[[nodiscard]] std::vector<zookeeper_facts::quota> quotas_of(const std::string& node,
                                                            const std::string& limits,
                                                            const std::string& used);

} // namespace leasehold::tool::doctor

#endif
