#ifndef LEASEHOLD_DETAIL_DIAGNOSED_HANDLER_HPP
#define LEASEHOLD_DETAIL_DIAGNOSED_HANDLER_HPP

#include <leasehold/detail/lease_link.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/associator.hpp>

#include <concepts>
#include <exception>
#include <utility>

namespace leasehold::detail {

/// A handler around another one: its executor, allocator and cancellation slot are that one's.
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

/// What is associated with it.
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

/// Makes an exception of an error and its details, in front of an initiation that knows nothing of
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

/// What an operation completes: gives the details to who wants them, and the rest to the handler,
/// with an exception in place of the error if it throws. All in one: each lock moves it, and what
/// stands around it, several times.
template <class Handler, bool Throws, class... Results>
class diagnosed_handler : public handler_around<Handler>
{
public:
    template <class H>
    diagnosed_handler(H&& handler, diagnostics* to)
        : handler_around<Handler>(std::forward<H>(handler)), to_(to)
    {}

    void operator()(error_code failed, carried_t<Results>... results, const details_ptr& details)
    {
        if (to_ != nullptr)
            report(*to_, details);
        if constexpr (Throws)
            std::move(this->handler_)(failed ? to_exception(failed, details) : nullptr,
                                      carried<Results>::arrive(std::move(results))...);
        else
            std::move(this->handler_)(failed, carried<Results>::arrive(std::move(results))...);
    }

private:
    diagnostics* to_;
};

} // namespace leasehold::detail

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class... Results, class Default>
struct associator<Associator, leasehold::detail::throwing_handler<Handler, Results...>, Default>
    : leasehold::detail::associator_of_inner<Associator, Handler, Default>
{};

template <template <class, class> class Associator, class Handler, bool Throws, class... Results,
          class Default>
struct associator<Associator, leasehold::detail::diagnosed_handler<Handler, Throws, Results...>,
                  Default> : leasehold::detail::associator_of_inner<Associator, Handler, Default>
{};

} // namespace boost::asio

#endif
