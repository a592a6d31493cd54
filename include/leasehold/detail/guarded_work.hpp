#ifndef LEASEHOLD_DETAIL_GUARDED_WORK_HPP
#define LEASEHOLD_DETAIL_GUARDED_WORK_HPP

#include <leasehold/detail/initiation.hpp>
#include <leasehold/detail/work.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

/// The handler of a `with_lock`, of any type, and the work. Allocated by the handler's allocator.
class guarded_call
{
public:
    [[nodiscard]] virtual any_work& work() noexcept = 0;
    /// Destroys this, then calls the handler: with `instead` if that is an error, otherwise with
    /// the result of the work.
    /// @param details Those of `instead`; null without an error.
    virtual void complete(error_code instead, const details_ptr& details) = 0;
    virtual void destroy() noexcept = 0;

protected:
    ~guarded_call() = default;
};

struct destroy_guarded_call
{
    void operator()(guarded_call* call) const noexcept { call->destroy(); }
};
using guarded_call_ptr = std::unique_ptr<guarded_call, destroy_guarded_call>;

/// The executors and the slot of a `with_lock`.
struct guarded_places
{
    asio::any_io_executor work; ///< The work runs on a strand over this.
    completion_executor completion;
    asio::cancellation_slot cancellation;
};

LEASEHOLD_EXPORT void start_guarded(guarded_call_ptr, const mutex&, guarded_places);

template <class Signature, class Handler>
class guarded_call_of;

template <class Error, class... Results, class Handler>
class guarded_call_of<void(Error, Results...), Handler> final : public guarded_call
{
    using work_type = work_with<void(Error, Results...)>;
    using allocator = typename std::allocator_traits<
        asio::associated_allocator_t<Handler>>::template rebind_alloc<guarded_call_of>;
    using traits = std::allocator_traits<allocator>;

public:
    template <class H>
    static guarded_call_ptr make(H&& handler, std::unique_ptr<work_type> work, diagnostics* details)
    {
        allocator from(asio::get_associated_allocator(handler));
        auto* place = traits::allocate(from, 1);
        try {
            return guarded_call_ptr(::new (static_cast<void*>(place)) guarded_call_of(
                std::forward<H>(handler), std::move(work), details));
        }
        catch (...) {
            traits::deallocate(from, place, 1);
            throw;
        }
    }

    any_work& work() noexcept override { return *work_; }

    void complete(error_code instead, const details_ptr& details) override
    {
        auto error = std::move(work_->error);
        auto results = std::move(work_->results);
        diagnostics* const to = to_;
        auto handler = extract();
        if (to != nullptr)
            report(*to, details);
        if (instead)
            assign(error, instead, details);
        const auto call = [&](Results... each) {
            if constexpr (takes_details<Handler>)
                std::move(handler)(std::move(error), std::move(each)..., details);
            else
                std::move(handler)(std::move(error), std::move(each)...);
        };
        if (instead || !results)
            call(Results()...);
        else
            std::apply([&](Results&... each) { call(std::move(each)...); }, *results);
    }

    void destroy() noexcept override { static_cast<void>(extract()); }

private:
    template <class H>
    guarded_call_of(H&& handler, std::unique_ptr<work_type> work, diagnostics* details)
        : handler_(std::forward<H>(handler)), work_(std::move(work)), to_(details)
    {}

    ~guarded_call_of() = default;

    Handler extract()
    {
        Handler handler(std::move(handler_));
        allocator from(asio::get_associated_allocator(handler));
        this->~guarded_call_of();
        traits::deallocate(from, this, 1);
        return handler;
    }

    static void assign(error_code& to, error_code failed, const details_ptr&) { to = failed; }
    static void assign(std::exception_ptr& to, error_code failed, const details_ptr& details)
    {
        to = to_exception(failed, details);
    }

    Handler handler_;
    std::unique_ptr<work_type> work_;
    diagnostics* to_; ///< May be null.
};

template <class Signature>
class guard_initiation
{
public:
    using executor_type = asio::any_io_executor;

    explicit guard_initiation(mutex lock) noexcept : lock_(std::move(lock)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return lock_.get_executor(); }

    template <class Handler, bool Copyable>
    void operator()(Handler&& handler, carried_work<Signature, Copyable> work,
                    diagnostics* details) const
    {
        const auto executor = asio::get_associated_executor(handler, inner_executor_of(lock_));
        if constexpr (std::is_convertible_v<decltype(executor), asio::any_io_executor>) {
            guarded_places places{
                executor,
                completion_executor(asio::get_associated_executor(handler, get_executor())),
                asio::get_associated_cancellation_slot(handler)};
            start_guarded(guarded_call_of<Signature, std::decay_t<Handler>>::make(
                              std::forward<Handler>(handler), work.release(), details),
                          lock_, std::move(places));
        }
        else {
            static_assert(!std::same_as<Handler, Handler>,
                          "with_lock: the handler's executor cannot run the work, for it does not "
                          "convert to asio::any_io_executor");
        }
    }

private:
    mutex lock_;
};

/// @param details May be null.
template <class Work, class Token>
auto guard(const mutex& lock, Work work, diagnostics* details, Token&& token)
{
    if constexpr (check_work<Work>()) {
        using signature = work_signature_t<Work>;
        if constexpr (asio::completion_token_for<Token, signature>) {
            using carried = carried_work<signature, std::copy_constructible<Work>>;
            return asio::async_initiate<Token, signature>(
                guard_initiation<signature>(lock), token,
                carried(std::make_unique<work_of<Work>>(std::move(work))), details);
        }
        else {
            static_assert(!std::same_as<Token, Token>,
                          "with_lock: the handler must take what the work ends with: "
                          "(std::exception_ptr), or (std::exception_ptr, T), "
                          "when it is a coroutine, else the same as the operation's own handler");
        }
    }
}

} // namespace leasehold::detail

#endif
