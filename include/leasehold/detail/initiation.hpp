#ifndef LEASEHOLD_DETAIL_INITIATION_HPP
#define LEASEHOLD_DETAIL_INITIATION_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>

#include <type_traits>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// The same executor, to be used once for completing. Empty for an empty one: the client's own, when its context has ended.
LEASEHOLD_EXPORT asio::any_completion_executor completion_executor(const asio::any_io_executor& target);

/// A handler of any type, and where it is to be called: its executor is asked for what completing needs while its type is still known, because
/// an erased handler only gives out an executor that may call it on the spot.
template <class Signature>
struct bound_handler
{
    template <class Handler>
    bound_handler(Handler&& h, const asio::any_io_executor& io)
        : executor(way_to(asio::get_associated_executor(h, io))), handler(std::forward<Handler>(h))
    {}

    asio::any_completion_executor executor; ///< Posts, and keeps its context busy.
    asio::any_completion_handler<Signature> handler;

private:
    template <class Executor>
    static asio::any_completion_executor way_to(const Executor& target)
    {
        if constexpr (std::is_same_v<Executor, asio::any_io_executor>)
            return completion_executor(target);
        else
            return asio::prefer(target, asio::execution::blocking.never, asio::execution::outstanding_work.tracked);
    }
};

/// The bridge from a completion token to a compiled function: erases the handler and calls `Start(handler, source, arguments...)`.
/// A named class with an executor, because adapters such as `cancel_after` ask the initiation where to run their timer. It is found
/// through the source when it is asked for: to keep a copy would cost each operation more than its own work.
template <class Signature, auto Start, class Source>
class initiation
{
public:
    using executor_type = asio::any_io_executor;

    explicit initiation(Source source) noexcept : source_(std::move(source)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(source_); }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) const&
    {
        bound_handler<Signature> bound(std::forward<Handler>(handler), executor_of(source_));
        Start(std::move(bound), source_, std::forward<Arguments>(arguments)...);
    }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) &&
    {
        bound_handler<Signature> bound(std::forward<Handler>(handler), executor_of(source_));
        Start(std::move(bound), std::move(source_), std::forward<Arguments>(arguments)...);
    }

private:
    Source source_;
};

template <class Signature, auto Start, class Source, class Token, class... Arguments>
auto initiate(Source source, Token&& token, Arguments&&... arguments)
{
    return asio::async_initiate<Token, Signature>(initiation<Signature, Start, Source>(std::move(source)), token,
                                                  std::forward<Arguments>(arguments)...);
}

} // namespace leasehold::detail

#endif
