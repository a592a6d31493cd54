#ifndef LEASEHOLD_DETAIL_ACCESS_HPP
#define LEASEHOLD_DETAIL_ACCESS_HPP

#include <leasehold/client.hpp>
#include <leasehold/detail/fwd.hpp>

#include <utility>

namespace leasehold::detail {

/// Gives the library access to private members of its public types. Not for users.
struct access
{
    [[nodiscard]] static client make_client(client_state_ptr state) noexcept
    {
        return client(std::move(state));
    }
    [[nodiscard]] static const client_state_ptr& state_of(const client& c) noexcept
    {
        return c.state_;
    }
};

} // namespace leasehold::detail

#endif
