#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_WAITERS_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_WAITERS_HPP

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <cstdint>

namespace leasehold::detail {

/// Operations that wait for one name, in order. Those of one try are counted: they end with the
/// next answer of the store, and most often there are none among many who wait. So are those whose
/// caller wants the details of an error: the store is asked for more when there are any.
template <class Op>
class waiters
{
    using list = boost::intrusive::list<Op, boost::intrusive::constant_time_size<false>>;

public:
    using iterator = typename list::iterator;

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    [[nodiscard]] Op& front() noexcept { return list_.front(); }
    [[nodiscard]] iterator begin() noexcept { return list_.begin(); }
    [[nodiscard]] iterator end() noexcept { return list_.end(); }

    void push_back(Op& op) noexcept
    {
        list_.push_back(op);
        ++count_;
        tries_ += op.once() ? 1 : 0;
        explained_ += op.explained() ? 1 : 0;
    }

    void erase(Op& op) noexcept
    {
        list_.erase(list_.iterator_to(op));
        --count_;
        tries_ -= op.once() ? 1 : 0;
        explained_ -= op.explained() ? 1 : 0;
    }

    /// Somebody waits for longer than one try.
    [[nodiscard]] bool patient() const noexcept { return count_ > tries_; }

    /// Somebody wants the details of an error.
    [[nodiscard]] bool explained() const noexcept { return explained_ > 0; }

    /// Calls `f`, which has to erase what it is given, for each operation of one try. Looks at
    /// nobody when there is none.
    template <class F>
    void each_try(F f)
    {
        for (auto i = list_.begin(); tries_ > 0;) {
            BOOST_ASSERT(i != list_.end());
            Op& each = *i++;
            if (each.once())
                f(each);
        }
    }

private:
    list list_;
    std::uint32_t count_ = 0;
    std::uint32_t tries_ = 0;
    std::uint32_t explained_ = 0;
};

} // namespace leasehold::detail

#endif
