#ifndef LEASEHOLD_DETAIL_LEASE_LINK_HPP
#define LEASEHOLD_DETAIL_LEASE_LINK_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/detail/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <utility>

namespace leasehold::detail {

/// Where handlers without an executor run, of an operation on this; null: there never was a lease.
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& executor_of_lease(
    const lease_state*) noexcept;

/// The same for what stands around such a handler and has a timer of its own, as `cancel_after`
/// has.
[[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor timer_executor_of_lease(
    const lease_state*) noexcept;

/// What a lease refers to: an acquisition that it holds, or one that it only remembers, because it
/// was released or passed on; that one still tells the client. As small as a pointer.
///
/// Destroyed, it releases what it holds. Moved from, it refers to nothing: on its way through the
/// library a lease leaves nothing behind, because to count one reference more in each step would
/// cost a handover. What the user moves from is left by `pass`.
class lease_link
{
public:
    lease_link() noexcept = default;
    explicit lease_link(lease_state_ptr held) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(held.detach()))
    {}
    lease_link(lease_link&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    lease_link& operator=(lease_link&& other) noexcept
    {
        lease_link taken(std::move(other));
        std::swap(word_, taken.word_);
        return *this;
    }
    ~lease_link()
    {
        if (word_ != 0)
            leave();
    }

    [[nodiscard]] bool holds() const noexcept { return word_ != 0 && (word_ & remembered) == 0; }

    /// Held or remembered; null: there never was a lease.
    [[nodiscard]] lease_state* state() const noexcept
    {
        return reinterpret_cast<lease_state*>(word_ & ~remembered);
    }

    /// What this was. From now on this only remembers.
    [[nodiscard]] lease_link pass() noexcept
    {
        lease_link passed;
        passed.word_ = word_;
        if (word_ != 0) {
            intrusive_ptr_add_ref(state());
            word_ |= remembered;
        }
        return passed;
    }

    /// Who takes it has to release what is held.
    [[nodiscard]] lease_state_ptr take() noexcept
    {
        lease_state* const state = this->state();
        word_ = 0;
        return lease_state_ptr(state, false);
    }

    friend const asio::any_io_executor& executor_of(const lease_link& of) noexcept
    {
        return executor_of_lease(of.state());
    }
    friend asio::any_io_executor timer_executor_of(const lease_link& of) noexcept
    {
        return timer_executor_of_lease(of.state());
    }

private:
    static constexpr std::uintptr_t remembered = 1; ///< No state has an odd address.

    LEASEHOLD_EXPORT void leave() noexcept;

    std::uintptr_t word_ = 0;
};

/// What a result is on its way from the library to the handler.
template <class Result>
struct carried
{
    using type = Result;
    static Result&& arrive(Result&& result) noexcept { return static_cast<Result&&>(result); }
};

template <>
struct carried<lease>
{
    using type = lease_link;
    static lease arrive(lease_link&& link) noexcept;
};

template <class Result>
using carried_t = typename carried<Result>::type;

} // namespace leasehold::detail

#endif
