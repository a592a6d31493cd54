#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_REDIRECTION_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_REDIRECTION_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/config.hpp>
#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <string_view>

namespace leasehold::redis_store {

/// Why a node of a cluster has not executed a command, and where to go instead.
struct redirection
{
    enum class kind : std::uint8_t
    {
        none,      ///< It said something else.
        moved,     ///< The slot is elsewhere.
        ask,       ///< The slot is on its way; this command is to be asked there, once.
        try_again, ///< The slot is on its way, and some of the keys have arrived.
        down,      ///< The slot is served by nobody for now.
    };
    kind what = kind::none;
    slot_number slot = 0;
    config::address where{}; ///< As announced. An empty host is that of whoever said so.
};

/// Reads the text of an error.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT redirection read_redirection(std::string_view said);

} // namespace leasehold::redis_store

#endif
