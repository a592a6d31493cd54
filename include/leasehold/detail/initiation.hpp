#ifndef LEASEHOLD_DETAIL_INITIATION_HPP
#define LEASEHOLD_DETAIL_INITIATION_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/bad_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// Explains a wrong completion token in the first line of the compiler's output. A constraint would
/// first report that there is no such function. Returns true if the token fits.
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

/// The same executor for completions: it posts, and tracks outstanding work.
template <class Executor>
auto posting(const Executor& target)
{
    return asio::prefer(target, asio::execution::blocking.never,
                        asio::execution::outstanding_work.tracked);
}

/// The executor of a handler. Used once; tracks outstanding work until then.
///
/// An `io_context` executor, the usual one of coroutines, is stored as it is: an erased executor
/// would cost each completion a second allocation and an indirect call.
///
/// No `std::variant`: each lock moves and destroys a dozen of these, and a variant does that
/// through a table of functions.
class completion_executor
{
    using io_executor = decltype(posting(std::declval<asio::io_context::executor_type>()));

public:
    /// An empty executor: posting throws.
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

    /// Releases the context.
    void reset() noexcept
    {
        switch (std::exchange(kind_, kind::none)) {
        case kind::none: break;
        case kind::io: std::destroy_at(&io_); break;
        case kind::any: std::destroy_at(&any_); break;
        }
    }

    /// Not named `execute`, because this is not an executor.
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

    /// Precondition: this is empty.
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

    /// Precondition: this is empty. The other is empty afterwards.
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

/// A wrapper of a handler, with the executor, allocator and cancellation slot of that handler.
template <class Handler>
class handler_around
{
public:
    template <class H>
        requires(!std::derived_from<std::remove_cvref_t<H>, handler_around>)
    explicit handler_around(H&& handler) : handler_(std::forward<H>(handler))
    {}

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

protected:
    Handler handler_;
};

/// Forwards an associator to the inner handler.
template <template <class, class> class Associator, class Handler, class Default>
struct associator_of_inner : Associator<Handler, Default>
{
    static auto get(const handler_around<Handler>& of) noexcept
    {
        return Associator<Handler, Default>::get(of.inner());
    }

    static auto get(const handler_around<Handler>& of, const Default& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(of.inner(), otherwise))
    {
        return Associator<Handler, Default>::get(of.inner(), otherwise);
    }
};

/// A handler that takes the details of an error as its last argument.
template <class Handler>
concept takes_details = requires { typename Handler::takes_details; };

/// The innermost handler of an operation. It writes the details to the caller's `diagnostics`, and
/// calls the caller's handler, with an exception instead of the error if that takes one. It is one
/// class, because each lock moves it several times.
template <class Handler, bool Throws, class... Results>
class diagnosed_handler : public handler_around<Handler>
{
public:
    template <class H>
    diagnosed_handler(H&& handler, diagnostics* to)
        : handler_around<Handler>(std::forward<H>(handler)), to_(to)
    {}

    void operator()(error_code failed, Results... results, const details_ptr& details)
    {
        if (to_ != nullptr)
            report(*to_, details);
        if constexpr (Throws)
            std::move(this->handler_)(failed ? to_exception(failed, details) : nullptr,
                                      std::move(results)...);
        else
            std::move(this->handler_)(failed, std::move(results)...);
    }

private:
    diagnostics* to_;
};

/// A handler of any type, and its executor. That is taken from the handler before its type is
/// erased: the executor of an erased handler may run it inside the call.
template <class Signature>
struct bound_handler;

template <class... Results>
struct bound_handler<void(error_code, Results...)>
{
    /// @param throws Whether the handler takes an exception instead of the error.
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
    asio::any_completion_handler<void(error_code, Results..., const details_ptr&)> handler;
};

/// The bridge from a completion token to a compiled function: erases the handler and calls
/// `Start(handler, source, arguments...)`. A named class with an executor, because adapters such as
/// `cancel_after` use the executor of the initiation for their timer. The executor is not stored: a
/// copy would cost each operation more than its own work.
template <class Signature, auto Start, class Source>
class initiation
{
public:
    using executor_type = asio::any_io_executor;

    explicit initiation(Source source) noexcept : source_(std::move(source)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(source_); }

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

    /// As above, with a handler that takes an exception instead of the error.
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

/// As `initiate`, for an operation with details of its errors.
/// @param details The target of the details. May be null.
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

namespace boost::asio {

template <template <class, class> class Associator, class Handler, bool Throws, class... Results,
          class Default>
struct associator<Associator, leasehold::detail::diagnosed_handler<Handler, Throws, Results...>,
                  Default> : leasehold::detail::associator_of_inner<Associator, Handler, Default>
{};

} // namespace boost::asio

#endif
