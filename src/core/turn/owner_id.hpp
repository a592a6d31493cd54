#ifndef LEASEHOLD_SRC_CORE_TURN_OWNER_ID_HPP
#define LEASEHOLD_SRC_CORE_TURN_OWNER_ID_HPP

#include <boost/static_string/static_string.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace leasehold::detail {

/// The id of an owner, `<uuid>:<number>`, without heap memory: each request to the store, each
/// holder and each release has a copy.
using owner_id = boost::static_strings::static_string<
    36 + 1 + std::size_t(std::numeric_limits<std::uint64_t>::digits10) + 1>;

} // namespace leasehold::detail

#endif
