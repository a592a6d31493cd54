#ifndef LEASEHOLD_DETAIL_INITIATION_HPP
#define LEASEHOLD_DETAIL_INITIATION_HPP

#include <leasehold/detail/completion_executor.hpp>
#include <leasehold/detail/diagnosed_handler.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/detail/lease_link.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// Says what is wrong with a completion token, in the first line that a compiler prints: a
/// constraint would say first that there is no such function. True when nothing is.
template <class Signature, class Token>
constexpr bool check_token()
{
    constexpr bool fits = asio::completion_token_for<Token, Signature>;
    if constexpr (std::same_as<Signature, void(error_code)>)
        static_assert(fits,
                      "leasehold: this operation's handler must take (leasehold::error_code)");
    else if constexpr (std::same_as<Signature, void(error_code, lease)>)
        static_assert(fits, "leasehold: this operation's handler must take (leasehold::error_code, "
                            "leasehold::lease)");
    else
        static_assert(fits,
                      "leasehold: this operation's handler must take what the operation ends with");
    return fits;
}

/// A handler of any type, and where it is to be called: its executor is asked for what completing
/// needs while its type is still known, because an erased handler only gives out an executor that
/// may call it on the spot.
template <class Signature>
struct bound_handler;

template <class... Results>
struct bound_handler<void(error_code, Results...)>
{
    /// @param throws Whether the handler takes an exception in place of the error.
    template <class Handler, bool Throws>
    bound_handler(Handler&& h, std::bool_constant<Throws> throws, const asio::any_io_executor& io,
                  diagnostics* details)
        : executor(asio::get_associated_executor(h, io)),
          explained(throws || details != nullptr),
          handler(diagnosed_handler<std::decay_t<Handler>, Throws, Results...>(
              std::forward<Handler>(h), details))
    {}

    completion_executor executor;
    bool explained; ///< The caller wants the details of an error.
    asio::any_completion_handler<void(error_code, carried_t<Results>..., const details_ptr&)>
        handler;
};

/// Where what stands around a handler and has a timer of its own runs that: where the handler does.
template <class Source>
[[nodiscard]] asio::any_io_executor timer_executor_of(const Source& source) noexcept
{
    return executor_of(source);
}

/// The bridge from a completion token to a compiled function: erases the handler and calls
/// `Start(handler, source, arguments...)`. A named class with an executor, because adapters such as
/// `cancel_after` ask the initiation where to run their timer. It is found through the source when
/// it is asked for: to keep a copy would cost each operation more than its own work.
template <class Signature, auto Start, class Source>
class initiation
{
public:
    using executor_type = asio::any_io_executor;

    explicit initiation(Source source) noexcept : source_(std::move(source)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return timer_executor_of(source_); }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, diagnostics* details, Arguments&&... arguments) const&
    {
        start(source_, std::forward<Handler>(handler), std::false_type(), details,
              std::forward<Arguments>(arguments)...);
    }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, diagnostics* details, Arguments&&... arguments) &&
    {
        start(std::move(source_), std::forward<Handler>(handler), std::false_type(), details,
              std::forward<Arguments>(arguments)...);
    }

    /// As above, with a handler that takes an exception in place of the error.
    template <class Handler, class... Arguments>
    void throwing(Handler&& handler, diagnostics* details, Arguments&&... arguments) const&
    {
        start(source_, std::forward<Handler>(handler), std::true_type(), details,
              std::forward<Arguments>(arguments)...);
    }

    template <class Handler, class... Arguments>
    void throwing(Handler&& handler, diagnostics* details, Arguments&&... arguments) &&
    {
        start(std::move(source_), std::forward<Handler>(handler), std::true_type(), details,
              std::forward<Arguments>(arguments)...);
    }

private:
    template <class From, class Handler, bool Throws, class... Arguments>
    static void start(From&& source, Handler&& handler, std::bool_constant<Throws> throws,
                      diagnostics* details, Arguments&&... arguments)
    {
        bound_handler<Signature> bound(std::forward<Handler>(handler), throws, executor_of(source),
                                       details);
        Start(std::move(bound), std::forward<From>(source), std::forward<Arguments>(arguments)...);
    }

    Source source_;
};

/// As `initiate`, of an operation that can be explained.
/// @param details Where to; null: nowhere.
template <class Signature, auto Start, class Source, class Token, class... Arguments>
auto initiate_explained(Source source, Token&& token, diagnostics* details,
                        Arguments&&... arguments)
{
    if constexpr (check_token<Signature, Token>())
        return asio::async_initiate<Token, Signature>(
            initiation<Signature, Start, Source>(std::move(source)), token, details,
            std::forward<Arguments>(arguments)...);
}

template <class Signature, auto Start, class Source, class Token, class... Arguments>
auto initiate(Source source, Token&& token, Arguments&&... arguments)
{
    return initiate_explained<Signature, Start>(std::move(source), std::forward<Token>(token),
                                                nullptr, std::forward<Arguments>(arguments)...);
}

} // namespace leasehold::detail

#endif
