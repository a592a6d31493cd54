#ifndef LEASEHOLD_WITH_DIAGNOSTICS_HPP
#define LEASEHOLD_WITH_DIAGNOSTICS_HPP

#include <leasehold/detail/initiation.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace leasehold {

namespace asio = boost::asio;

/// A completion token that turns errors into exceptions with details.
///
/// An operation of this library with the signature `void(error_code, T...)` then has the signature
/// `void(std::exception_ptr, T...)`. The exception is an `error_with_diagnostics`.
///
/// `with_diagnostics(asio::deferred)` is the default token of every operation on a lock or lease,
/// so `co_await m.async_lock()` throws the details. With `asio::use_awaitable`, `asio::use_future`
/// and `asio::deferred`, Asio makes a plain `boost::system::system_error` of the `error_code`. To
/// get the details, write
/// @code
/// lease held = co_await m.async_lock(with_diagnostics(asio::use_awaitable));
/// lease held = co_await m.async_lock(with_diagnostics(asio::cancel_after(5s, asio::deferred)));
/// @endcode
/// It must be the outermost adapter. Operations of other libraries complete with a plain
/// `system_error`. Operations that complete with an exception are not changed. Memory is allocated
/// only for an error.
template <class Token>
class with_diagnostics_t
{
public:
    /// Wraps a default-constructed token.
    constexpr with_diagnostics_t() = default;
    /// Wraps `token`.
    constexpr explicit with_diagnostics_t(Token token) : token_(std::move(token)) {}

    /// The wrapped token.
    [[nodiscard]] constexpr const Token& get() const& noexcept { return token_; }
    /// The wrapped token, to be moved from.
    [[nodiscard]] constexpr Token&& get() && noexcept { return std::move(token_); }

private:
    Token token_;
};

/// Wraps a completion token.
/// @return A `with_diagnostics_t` of the decayed type of `token`.
template <class Token>
[[nodiscard]] constexpr auto with_diagnostics(Token&& token)
{
    return with_diagnostics_t<std::decay_t<Token>>(std::forward<Token>(token));
}

namespace detail {

using default_token = with_diagnostics_t<asio::deferred_t>;

/// Makes an exception of an error and its details. Adapts a handler to an initiation without
/// exceptions.
template <class Handler, class... Results>
class throwing_handler : public handler_around<Handler>
{
public:
    using takes_details = void;
    using handler_around<Handler>::handler_around;

    void operator()(error_code failed, Results... results, const details_ptr& details = {})
    {
        std::move(this->handler_)(to_exception(failed, details), std::move(results)...);
    }
};

/// Initiates an operation with a handler that takes an exception.
template <class Initiation, class... Results>
class throwing_initiation
{
public:
    using executor_type = asio::associated_executor_t<Initiation>;

    explicit throwing_initiation(Initiation inner) : inner_(std::move(inner)) {}

    [[nodiscard]] executor_type get_executor() const noexcept
    {
        return asio::get_associated_executor(inner_);
    }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) const&
    {
        start(inner_, std::forward<Handler>(handler), std::forward<Arguments>(arguments)...);
    }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) &&
    {
        start(std::move(inner_), std::forward<Handler>(handler),
              std::forward<Arguments>(arguments)...);
    }

private:
    template <class Inner, class Handler, class... Arguments>
    static void start(Inner&& inner, Handler&& handler, Arguments&&... arguments)
    {
        // An operation of a lock or lease wraps the handler in its own type anyway.
        if constexpr (requires {
                          std::forward<Inner>(inner).throwing(
                              std::forward<Handler>(handler),
                              std::forward<Arguments>(arguments)...);
                      })
            std::forward<Inner>(inner).throwing(std::forward<Handler>(handler),
                                                std::forward<Arguments>(arguments)...);
        else
            std::forward<Inner>(inner)(
                throwing_handler<std::decay_t<Handler>, Results...>(std::forward<Handler>(handler)),
                std::forward<Arguments>(arguments)...);
    }

    Initiation inner_;
};

} // namespace detail
} // namespace leasehold

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class... Results, class Default>
struct associator<Associator, leasehold::detail::throwing_handler<Handler, Results...>, Default>
    : leasehold::detail::associator_of_inner<Associator, Handler, Default>
{};

template <class Token, class... Results>
class async_result<leasehold::with_diagnostics_t<Token>, void(leasehold::error_code, Results...)>
{
    template <class Initiation>
    using throwing =
        leasehold::detail::throwing_initiation<std::decay_t<Initiation>, std::decay_t<Results>...>;

public:
    template <class Initiation, class Outer, class... Arguments>
    static auto initiate(Initiation&& initiation, Outer&& token, Arguments&&... arguments)
        -> decltype(async_initiate<Token, void(std::exception_ptr, Results...)>(
            std::declval<throwing<Initiation>>(), std::declval<Token&>(),
            std::forward<Arguments>(arguments)...))
    {
        Token inner(std::forward<Outer>(token).get());
        return async_initiate<Token, void(std::exception_ptr, Results...)>(
            throwing<Initiation>(std::forward<Initiation>(initiation)), inner,
            std::forward<Arguments>(arguments)...);
    }
};

/// A signature that already has an exception is not changed.
template <class Token, class... Results>
class async_result<leasehold::with_diagnostics_t<Token>, void(std::exception_ptr, Results...)>
{
public:
    template <class Initiation, class Outer, class... Arguments>
    static auto initiate(Initiation&& initiation, Outer&& token, Arguments&&... arguments)
        -> decltype(async_initiate<Token, void(std::exception_ptr, Results...)>(
            std::forward<Initiation>(initiation), std::declval<Token&>(),
            std::forward<Arguments>(arguments)...))
    {
        Token inner(std::forward<Outer>(token).get());
        return async_initiate<Token, void(std::exception_ptr, Results...)>(
            std::forward<Initiation>(initiation), inner, std::forward<Arguments>(arguments)...);
    }
};

} // namespace boost::asio

#endif
