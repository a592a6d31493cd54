#ifndef LEASEHOLD_OBSERVER_HPP
#define LEASEHOLD_OBSERVER_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace leasehold {

/// Told what happens in a client: enough for logs, metrics and traces. Override what you need.
///
/// Every function is called on the client's strand, one at a time, must not block and must not
/// throw. It may use handles of the client. The name is valid during the call only. An observer
/// must outlive the client's work: it is held by a `std::shared_ptr`.
class LEASEHOLD_EXPORT observer
{
public:
    using duration = std::chrono::nanoseconds;

    virtual ~observer() = default;

    /// A lease was given out. `waited`: since the call. `handed_over`: from a lease of this client,
    /// without the store.
    virtual void acquired(std::string_view, std::uint64_t /*fence*/, duration /*waited*/,
                          bool /*handed_over*/) noexcept
    {}
    /// An attempt to acquire ended without a lease: `held`, `timed_out`, cancelled, or a store's
    /// error.
    virtual void not_acquired(std::string_view, error_code, duration /*waited*/) noexcept {}
    /// The store answered that another has the lock, for `remaining` more (negative: for ever).
    virtual void waiting(std::string_view, std::chrono::milliseconds /*remaining*/) noexcept {}
    /// The time to live of a lock that this client waits for is not falling, or is longer than any
    /// lease should be: the server's clock may have gone back. The client looks again at its
    /// backoff ceiling.
    virtual void suspect_expiry(std::string_view, std::chrono::milliseconds /*remaining*/) noexcept
    {}
    /// A renewal was confirmed, `took` after it was sent.
    virtual void renewed(std::string_view, std::uint64_t /*fence*/, duration /*took*/) noexcept {}
    /// A renewal was not confirmed; the lease is valid for `left` more and it is tried again.
    virtual void renewal_late(std::string_view, std::uint64_t /*fence*/, error_code,
                              duration /*left*/) noexcept
    {}
    virtual void lost(std::string_view, std::uint64_t /*fence*/, error_code /*reason*/) noexcept {}
    /// A lease was released; `held` is how long it had lasted.
    virtual void released(std::string_view, std::uint64_t /*fence*/, duration /*held*/) noexcept {}
    virtual void connected() noexcept {}
    virtual void disconnected(error_code) noexcept {}
};

} // namespace leasehold

#endif
