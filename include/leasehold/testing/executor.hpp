#ifndef LEASEHOLD_TESTING_EXECUTOR_HPP
#define LEASEHOLD_TESTING_EXECUTOR_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <utility>

namespace leasehold::testing {

namespace asio = boost::asio;

class host;

namespace impl {

/// A task that runs once on a host.
class task
{
public:
    task() = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() = default;
    virtual void run() = 0;
};

template <class F>
class task_of final : public task
{
public:
    explicit task_of(F f) : f_(std::move(f)) {}

    void run() override { std::move(f_)(); }

private:
    F f_;
};

LEASEHOLD_TESTING_EXPORT void post(host& where, std::unique_ptr<task> what);
/// Whether the caller runs on that host.
LEASEHOLD_TESTING_EXPORT bool runs_here(const host& where) noexcept;
LEASEHOLD_TESTING_EXPORT asio::execution_context& context_of(host& where) noexcept;

} // namespace impl

/// Runs work on a simulated host, in virtual time. The seed decides the order of tasks that are
/// ready at the same time, as on a thread pool. Use a strand where order matters. Meets the
/// requirements of an Asio executor.
class executor
{
public:
    /// The executor of that host.
    explicit executor(host& where) noexcept : host_(&where) {}

    /// @name Requirements of Asio
    /// @{

    /// A property or a function for Asio.
    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept
    {
        return impl::context_of(*host_);
    }

    [[nodiscard]] asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept
    {
        return never_ ? asio::execution::blocking_t(asio::execution::blocking.never)
                      : asio::execution::blocking_t(asio::execution::blocking.possibly);
    }

    [[nodiscard]] executor require(asio::execution::blocking_t::never_t) const noexcept
    {
        return executor(*host_, true);
    }
    [[nodiscard]] executor require(asio::execution::blocking_t::possibly_t) const noexcept
    {
        return executor(*host_, false);
    }

    // The world runs while there are events, so outstanding work is not counted.
    [[nodiscard]] executor require(asio::execution::outstanding_work_t::tracked_t) const noexcept
    {
        return *this;
    }
    [[nodiscard]] executor require(asio::execution::outstanding_work_t::untracked_t) const noexcept
    {
        return *this;
    }
    [[nodiscard]] executor require(asio::execution::relationship_t::fork_t) const noexcept
    {
        return *this;
    }
    [[nodiscard]] executor require(asio::execution::relationship_t::continuation_t) const noexcept
    {
        return *this;
    }

    /// @}

    /// Runs `f` once: inside this call if it is made on the host and blocking is allowed.
    template <class F>
    void execute(F&& f) const
    {
        if (!never_ && impl::runs_here(*host_)) {
            std::decay_t<F> now(std::forward<F>(f));
            std::move(now)();
            return;
        }
        impl::post(*host_, std::make_unique<impl::task_of<std::decay_t<F>>>(std::forward<F>(f)));
    }

    /// Whether both run work in the same way on the same host.
    friend bool operator==(const executor&, const executor&) noexcept = default;

private:
    executor(host& where, bool never) noexcept : host_(&where), never_(never) {}

    host* host_;
    bool never_ = false;
};

} // namespace leasehold::testing

#endif
