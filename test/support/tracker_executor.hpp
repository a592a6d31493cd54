#ifndef LEASEHOLD_TEST_SUPPORT_TRACKER_EXECUTOR_HPP
#define LEASEHOLD_TEST_SUPPORT_TRACKER_EXECUTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace leasehold::test {

/// An executor that runs functions on another one. It records how many were submitted, and whether
/// the caller runs inside one of them. Copies, including those with other properties, share the
/// record.
class tracker_executor
{
public:
    // Constrained: a plain parameter would make `any_io_executor` check whether this class is an
    // executor during that same check.
    template <class Executor>
        requires(!std::same_as<Executor, tracker_executor>)
    explicit tracker_executor(const Executor& inner)
        : inner_(inner), submitted_(std::make_shared<std::atomic<std::size_t>>(0))
    {}

    std::size_t submissions() const noexcept { return *submitted_; }

    /// Whether a function that was submitted to this executor is running on this thread.
    bool running_here() const noexcept
    {
        for (const frame* each = top(); each != nullptr; each = each->below)
            if (each->executor == submitted_.get())
                return true;
        return false;
    }

    template <class Function>
    void execute(Function&& function) const
    {
        ++*submitted_;
        inner_.execute([id = submitted_, function = std::decay_t<Function>(
                                             std::forward<Function>(function))]() mutable {
            const frame here(id.get());
            // Like other executors: the function object is destroyed before its effects can be
            // examined.
            auto local = std::move(function);
            std::move(local)();
        });
    }

    template <class Property>
        requires boost::asio::can_query_v<const boost::asio::any_io_executor&, Property>
    decltype(auto) query(const Property& property) const
    {
        return boost::asio::query(inner_, property);
    }

    template <class Property>
        requires boost::asio::can_require_v<const boost::asio::any_io_executor&, Property>
    tracker_executor require(const Property& property) const
    {
        return {boost::asio::require(inner_, property), submitted_};
    }

    template <class Property>
        requires boost::asio::can_prefer_v<const boost::asio::any_io_executor&, Property>
    tracker_executor prefer(const Property& property) const
    {
        return {boost::asio::prefer(inner_, property), submitted_};
    }

    friend bool operator==(const tracker_executor& a, const tracker_executor& b) noexcept
    {
        return a.submitted_ == b.submitted_ && a.inner_ == b.inner_;
    }

private:
    using counter = std::shared_ptr<std::atomic<std::size_t>>;

    tracker_executor(boost::asio::any_io_executor inner, counter submitted)
        : inner_(std::move(inner)), submitted_(std::move(submitted))
    {}

    struct frame
    {
        explicit frame(const void* reentered) noexcept
            : executor(reentered), below(std::exchange(top(), this))
        {}
        ~frame() { top() = below; }
        frame(const frame&) = delete;
        frame& operator=(const frame&) = delete;

        const void* executor;
        const frame* below;
    };

    static const frame*& top() noexcept
    {
        thread_local const frame* innermost = nullptr;
        return innermost;
    }

    boost::asio::any_io_executor inner_;
    counter submitted_;
};

} // namespace leasehold::test

#endif
