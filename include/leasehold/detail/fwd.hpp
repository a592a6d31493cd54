#ifndef LEASEHOLD_DETAIL_FWD_HPP
#define LEASEHOLD_DETAIL_FWD_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <memory>

namespace leasehold {

namespace asio = boost::asio;

class client;
class lease;
class mutex;

namespace detail {

class client_state; // the state of a client, on its strand
class lease_state;  // one acquisition, from the view of its holder
struct access;
struct lock_spec; // the name and the options of a mutex

LEASEHOLD_EXPORT void intrusive_ptr_add_ref(const lease_state*) noexcept;
LEASEHOLD_EXPORT void intrusive_ptr_release(const lease_state*) noexcept;

using client_state_ptr = std::shared_ptr<client_state>;
using lease_state_ptr = boost::intrusive_ptr<lease_state>;
using spec_ptr = std::shared_ptr<const lock_spec>;

/// The executor of handlers that have none of their own.
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& executor_of(
    const client_state_ptr&) noexcept;
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& executor_of(const spec_ptr&) noexcept;

/// The executor that the client was constructed with.
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& inner_executor_of(
    const spec_ptr&) noexcept;

} // namespace detail
} // namespace leasehold

#endif
