#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_REDIRECTION_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_REDIRECTION_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/redis_config.hpp>

#include <cstdint>
#include <string_view>

namespace leasehold::redis_store {

/// Why a node of a cluster has not executed a command, and which node can.
struct redirection
{
    enum class kind : std::uint8_t
    {
        none,      ///< Another text.
        moved,     ///< Another node has the slot.
        ask,       ///< The slot migrates; this command must be sent to the target, once.
        try_again, ///< The slot migrates, and some of the keys have arrived.
        down,      ///< No node serves the slot for now.
    };
    kind what = kind::none;
    slot_number slot = 0;
    redis_config::address where{}; ///< As announced. An empty host means the host of the sender.
};

/// Reads the text of an error.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT redirection read_redirection(std::string_view error);

} // namespace leasehold::redis_store

#endif
