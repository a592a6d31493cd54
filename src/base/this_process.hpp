#ifndef LEASEHOLD_SRC_BASE_THIS_PROCESS_HPP
#define LEASEHOLD_SRC_BASE_THIS_PROCESS_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/detail/export.hpp>

namespace leasehold::detail {

/// The description of a client of this process that starts now.
[[nodiscard]] LEASEHOLD_EXPORT client_info this_process();

} // namespace leasehold::detail

#endif
