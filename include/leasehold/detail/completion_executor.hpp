#ifndef LEASEHOLD_DETAIL_COMPLETION_EXECUTOR_HPP
#define LEASEHOLD_DETAIL_COMPLETION_EXECUTOR_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/bad_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// The same executor, for completing: it posts, and keeps its context busy.
template <class Executor>
auto posting(const Executor& target)
{
    return asio::prefer(target, asio::execution::blocking.never,
                        asio::execution::outstanding_work.tracked);
}

/// Where a handler is to be called. Used once; keeps the context busy until then.
///
/// An `io_context`, which is behind nearly every coroutine, is kept as what it is: an erased
/// executor would make a second allocation, and a call through a pointer, of each completion.
///
/// No `std::variant`: each lock moves and destroys a dozen of these, and a variant calls through a
/// table to do so.
class completion_executor
{
    using io_executor = decltype(posting(std::declval<asio::io_context::executor_type>()));

public:
    /// Of an empty executor: nothing can be executed.
    completion_executor() noexcept {}

    LEASEHOLD_EXPORT explicit completion_executor(const asio::any_io_executor& target);

    template <class Executor>
        requires(!std::same_as<Executor, completion_executor>)
    explicit completion_executor(const Executor& target)
    {
        assign(posting(target));
    }

    completion_executor(completion_executor&& other) noexcept { take(other); }
    completion_executor& operator=(completion_executor&& other) noexcept
    {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~completion_executor() { reset(); }

    /// Lets go of the context.
    void reset() noexcept
    {
        switch (std::exchange(kind_, kind::none)) {
        case kind::none: break;
        case kind::io: std::destroy_at(&io_); break;
        case kind::any: std::destroy_at(&any_); break;
        }
    }

    /// Not called `execute`: this is no executor.
    template <class F>
    void post(F&& f) const
    {
        switch (kind_) {
        case kind::none: throw asio::execution::bad_executor();
        case kind::io: return io_.execute(std::forward<F>(f));
        case kind::any: return any_.execute(std::forward<F>(f));
        }
    }

private:
    enum class kind : unsigned char
    {
        none,
        io,
        any,
    };

    /// This is empty.
    void assign(io_executor target) noexcept
    {
        std::construct_at(&io_, std::move(target));
        kind_ = kind::io;
    }
    void assign(asio::any_completion_executor target) noexcept
    {
        std::construct_at(&any_, std::move(target));
        kind_ = kind::any;
    }

    /// This is empty; the other is afterwards.
    void take(completion_executor& other) noexcept
    {
        switch (other.kind_) {
        case kind::none: return;
        case kind::io: assign(std::move(other.io_)); break;
        case kind::any: assign(std::move(other.any_)); break;
        }
        other.reset();
    }

    union {
        io_executor io_;
        asio::any_completion_executor any_;
    };
    kind kind_ = kind::none;
};

} // namespace leasehold::detail

#endif
