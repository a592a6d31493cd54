#ifndef LEASEHOLD_DETAIL_WORK_HPP
#define LEASEHOLD_DETAIL_WORK_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>
#include <leasehold/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

// The result type of a function that runs under a lock, and its completion signature.

template <class T>
struct coroutine_result : std::false_type
{};
template <class T, class Executor>
struct coroutine_result<asio::awaitable<T, Executor>> : std::true_type
{
    using executor_type = Executor;
    using signature = void(std::exception_ptr, T);
    static constexpr bool can_fail = std::is_default_constructible_v<T>;
};
template <class Executor>
struct coroutine_result<asio::awaitable<void, Executor>> : std::true_type
{
    using executor_type = Executor;
    using signature = void(std::exception_ptr);
    static constexpr bool can_fail = true;
};

template <class T>
inline constexpr bool is_coroutine = coroutine_result<T>::value;

template <class Work>
decltype(auto) call_work(Work& work, lease& held)
{
    if constexpr (std::invocable<Work&, lease&>)
        return work(held);
    else
        return work();
}

template <class Work>
using called_work_t =
    std::remove_cvref_t<decltype(call_work(std::declval<Work&>(), std::declval<lease&>()))>;

template <class Result, bool = is_coroutine<Result>>
struct signature_of
{
    using type = asio::completion_signature_of_t<Result>;
};
template <class Result>
struct signature_of<Result, true>
{
    using type = typename coroutine_result<Result>::signature;
};

template <class Work>
using work_signature_t = typename signature_of<called_work_t<Work>>::type;

template <class Signature>
inline constexpr bool begins_with_error = false;
template <class... Results>
inline constexpr bool begins_with_error<void(error_code, Results...)> = true;
template <class... Results>
inline constexpr bool begins_with_error<void(std::exception_ptr, Results...)> = true;

template <class Signature>
inline constexpr bool results_can_be_made = false;
template <class Error, class... Results>
inline constexpr bool results_can_be_made<void(Error, Results...)> =
    (std::is_default_constructible_v<Results> && ...);

/// Explains unsuitable work in the first line of the compiler's output. Returns true if it fits.
template <class Work>
constexpr bool check_work()
{
    if constexpr (is_coroutine<Work> || asio::is_deferred<Work>::value) {
        static_assert(!std::same_as<Work, Work>, "with_lock: the work is an operation that exists "
                                                 "already; pass a function that makes it, "
                                                 "as in with_lock(m, [&] { return work(); }), "
                                                 "because it is called when the lock is held");
        return false;
    }
    else if constexpr (!std::invocable<Work&, lease&> && !std::invocable<Work&>) {
        static_assert(!std::same_as<Work, Work>,
                      "with_lock: the work is no function that can be called with no argument or "
                      "with a leasehold::lease&");
        return false;
    }
    else {
        using result = called_work_t<Work>;
        if constexpr (is_coroutine<result>) {
            constexpr bool can_run =
                std::is_constructible_v<typename coroutine_result<result>::executor_type,
                                        asio::any_io_executor>;
            static_assert(coroutine_result<result>::can_fail,
                          "with_lock: what the work's coroutine returns must be "
                          "default-constructible, for it comes with an error too");
            static_assert(can_run, "with_lock: the executor of the work's coroutine must be one "
                                   "that an asio::any_io_executor converts to, "
                                   "as that of asio::awaitable<T> is");
            return coroutine_result<result>::can_fail && can_run;
        }
        else if constexpr (!asio::is_async_operation<result>::value) {
            static_assert(
                !std::same_as<Work, Work>,
                "with_lock: the work must return a coroutine, asio::awaitable<T>, or an operation "
                "that has not started, such as timer.async_wait(asio::deferred)");
            return false;
        }
        else {
            using signature = asio::completion_signature_of_t<result>;
            static_assert(begins_with_error<signature>,
                          "with_lock: the operation that the work returns must complete with an "
                          "error_code or a std::exception_ptr first");
            if constexpr (begins_with_error<signature>)
                static_assert(
                    results_can_be_made<signature>,
                    "with_lock: what the operation that the work returns completes with must be "
                    "default-constructible, for it comes with an error too");
            return begins_with_error<signature> && results_can_be_made<signature>;
        }
    }
}

class guarded_run; // one call of `with_lock`; defined in the library
using run_ptr = std::shared_ptr<guarded_run>;

/// The strand of the work.
[[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor work_executor(const guarded_run&) noexcept;
/// The cancellation slot of the work.
[[nodiscard]] LEASEHOLD_EXPORT asio::cancellation_slot work_slot(guarded_run&) noexcept;
/// Reports the end of the work. Called on the strand.
LEASEHOLD_EXPORT void work_ended(guarded_run&);
/// Runs the work. Its exception is passed to `any_work::fail`.
LEASEHOLD_EXPORT void spawn_work(run_ptr, asio::awaitable<void>);

/// Work of any type.
class any_work
{
public:
    any_work() = default;
    any_work(const any_work&) = delete;
    any_work& operator=(const any_work&) = delete;
    virtual ~any_work() = default;

    /// Starts the work. `work_ended` is called when it has ended, unless this throws.
    virtual void begin(lease& held, const run_ptr& run) = 0;

    /// Stores an exception as the result. False if the signature has no exception.
    virtual bool fail(std::exception_ptr) noexcept = 0;

    /// Destroys the user's function, but not the results.
    virtual void discard() noexcept = 0;
};

/// Work with a certain completion signature.
template <class Signature>
class work_with;

template <class Error, class... Results>
class work_with<void(Error, Results...)> : public any_work
{
public:
    bool fail(std::exception_ptr thrown) noexcept final
    {
        if constexpr (std::same_as<Error, std::exception_ptr>) {
            error = std::move(thrown);
            return true;
        }
        else {
            return false;
        }
    }

    /// Null if the user's function cannot be copied.
    [[nodiscard]] virtual std::unique_ptr<work_with> copy() const = 0;

    Error error{};
    std::optional<std::tuple<Results...>> results; ///< Empty if there is only an error.
};

/// The completion handler of an operation that is the work.
template <class Signature>
class work_handler;

template <class Error, class... Results>
class work_handler<void(Error, Results...)>
{
public:
    using executor_type = asio::any_io_executor;
    using cancellation_slot_type = asio::cancellation_slot;

    work_handler(run_ptr run, work_with<void(Error, Results...)>& work) noexcept
        : run_(std::move(run)), work_(&work)
    {}

    [[nodiscard]] executor_type get_executor() const noexcept { return work_executor(*run_); }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept
    {
        return work_slot(*run_);
    }

    void operator()(Error error, Results... results)
    {
        work_->error = std::move(error);
        work_->results.emplace(std::move(results)...);
        work_ended(*run_);
    }

private:
    run_ptr run_;
    work_with<void(Error, Results...)>* work_; // owned by the run
};

// The result of `co_await` has a name, because g++ 12 destroys some temporaries of such expressions
// twice.
template <class T>
asio::awaitable<void> keep_result(asio::awaitable<T> from, std::optional<std::tuple<T>>& to)
{
    T result = co_await std::move(from);
    to.emplace(std::move(result));
}

template <class Work>
class work_of final : public work_with<work_signature_t<Work>>
{
    using signature = work_signature_t<Work>;
    using called = called_work_t<Work>;

public:
    explicit work_of(Work work) : work_(std::move(work)) {}

    void begin(lease& held, const run_ptr& run) override
    {
        if constexpr (!is_coroutine<called>)
            call_work(*work_, held)(work_handler<signature>(run, *this));
        else if constexpr (std::same_as<called, asio::awaitable<void>>)
            spawn_work(run, call_work(*work_, held));
        else if constexpr (std::same_as<typename coroutine_result<called>::executor_type,
                                        asio::any_io_executor>)
            spawn_work(run, keep_result(call_work(*work_, held), this->results));
        else
            asio::co_spawn(typename coroutine_result<called>::executor_type(work_executor(*run)),
                           call_work(*work_, held), work_handler<signature>(run, *this));
    }

    void discard() noexcept override { work_.reset(); }

    [[nodiscard]] std::unique_ptr<work_with<signature>> copy() const override
    {
        if constexpr (std::copy_constructible<Work>)
            return std::make_unique<work_of>(*work_);
        else
            return nullptr;
    }

private:
    std::optional<Work> work_;
};

/// Work that is passed to its operation. Copyable if the user's function is: a stored operation may
/// be started more than once.
template <class Signature, bool Copyable>
class carried_work
{
public:
    explicit carried_work(std::unique_ptr<work_with<Signature>> work) noexcept
        : work_(std::move(work))
    {}
    carried_work(carried_work&&) noexcept = default;
    carried_work(const carried_work& other)
        requires Copyable
        : work_(other.work_->copy())
    {}
    carried_work& operator=(carried_work&&) = delete;
    ~carried_work() = default;

    [[nodiscard]] std::unique_ptr<work_with<Signature>> release() noexcept
    {
        return std::move(work_);
    }

private:
    std::unique_ptr<work_with<Signature>> work_;
};

} // namespace leasehold::detail

#endif
