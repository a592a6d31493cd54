#ifndef LEASEHOLD_DETAIL_COMPLETION_EXECUTOR_HPP
#define LEASEHOLD_DETAIL_COMPLETION_EXECUTOR_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>

#include <utility>
#include <variant>

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
class completion_executor
{
public:
    /// Of an empty executor: nothing can be executed.
    completion_executor() noexcept = default;

    LEASEHOLD_EXPORT explicit completion_executor(const asio::any_io_executor& target);

    template <class Executor>
    explicit completion_executor(const Executor& target) : where_(posting(target))
    {}

    /// Not called `execute`: this is no executor.
    template <class F>
    void post(F&& f) const
    {
        if (const auto* known = std::get_if<io_executor>(&where_))
            known->execute(std::forward<F>(f));
        else
            std::get<asio::any_completion_executor>(where_).execute(std::forward<F>(f));
    }

private:
    using io_executor = decltype(posting(std::declval<asio::io_context::executor_type>()));

    std::variant<asio::any_completion_executor, io_executor> where_;
};

} // namespace leasehold::detail

#endif
