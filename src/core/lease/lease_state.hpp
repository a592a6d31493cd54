#ifndef LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP

#include "core/lease/lease_term.hpp"
#include "core/lease/ownership.hpp"

#include <utility>

namespace leasehold::detail {

/// One acquisition as its holder sees it: what a `lease` refers to. What the store knows of it is
/// its `ownership`, which may serve several leases one after another.
class lease_state final : public lease_term
{
public:
    lease_state(ownership_ptr from, std::uint64_t number, clock::time_point begun) noexcept
        : lease_term(number, begun), held(std::move(from))
    {}

    const ownership_ptr held;
};

} // namespace leasehold::detail

#endif
