#include "traps/test_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace leasehold::test {

struct started::state
{
    bool done = false;
    error_code code;
    class lease lease;
    asio::cancellation_signal signal;
};

namespace {

auto stored_code(const started& op)
{
    return asio::bind_cancellation_slot(op.shared()->signal.slot(),
                                        [to = op.shared()](error_code code) {
                                            if (std::exchange(to->done, true))
                                                throw std::logic_error("completed twice");
                                            to->code = code;
                                        });
}

auto stored_lease(const started& op)
{
    return asio::bind_cancellation_slot(op.shared()->signal.slot(),
                                        [to = op.shared()](error_code code, lease got) {
                                            if (std::exchange(to->done, true))
                                                throw std::logic_error("completed twice");
                                            to->code = code;
                                            to->lease = std::move(got);
                                        });
}

} // namespace

started::started() : state_(std::make_shared<state>()) {}

bool started::done() const noexcept
{
    return state_->done;
}

error_code started::code() const
{
    if (!state_->done)
        throw std::logic_error("the operation has not completed");
    return state_->code;
}

lease& started::lease() const
{
    if (!has_lease())
        throw std::runtime_error("no lease: " + state_->code.message());
    return state_->lease;
}

bool started::has_lease() const noexcept
{
    return static_cast<bool>(state_->lease);
}

void started::cancel(asio::cancellation_type type) const
{
    state_->signal.emit(type);
}

test_client::test_client(asio::io_context& on, const redis_config& settings)
    : context(on), locks(on, make_redis_store(settings), saw)
{
    locks.async_run(stored_code(run));
}

test_client::test_client(asio::io_context& on, std::shared_ptr<store> from)
    : context(on), locks(on, std::move(from), saw)
{
    locks.async_run(stored_code(run));
}

started test_client::lock(const std::string& name, const lock_options& how)
{
    started op;
    mutex(locks, name, how).async_lock(stored_lease(op));
    return op;
}

started test_client::lock(const std::string& name, const lock_options& how, const owner& holder)
{
    started op;
    mutex(locks, name, how).with_owner(holder).async_lock(stored_lease(op));
    return op;
}

started test_client::try_lock(const std::string& name, const lock_options& how)
{
    started op;
    mutex(locks, name, how).async_try_lock(stored_lease(op));
    return op;
}

started test_client::lock_for(milliseconds patience, const std::string& name,
                              const lock_options& how)
{
    started op;
    mutex(locks, name, how).async_try_lock_for(patience, stored_lease(op));
    return op;
}

lease test_client::take(const std::string& name, const lock_options& how)
{
    const started op = lock(name, how);
    test::run_until(context, op);
    return std::move(op.lease());
}

lease test_client::reenter(const std::string& name, const lock_options& how, const owner& holder)
{
    const started op = lock(name, how, holder);
    test::run_until(context, op);
    return std::move(op.lease());
}

started test_client::release(lease& held)
{
    started op;
    held.async_release(stored_code(op));
    return op;
}

error_code test_client::released(lease& held)
{
    const started op = release(held);
    test::run_until(context, op);
    return op.code();
}

started test_client::wait_lost(lease& held)
{
    started op;
    held.async_wait_lost(stored_code(op));
    return op;
}

started test_client::shut_down()
{
    started op;
    locks.async_shutdown(stored_code(op));
    return op;
}

void test_client::await_connected()
{
    test::run_until(context, [this] { return count(kind::connected) > 0; }, ample);
}

void test_client::await_count(kind event_kind, std::size_t times)
{
    run_until(context, [&] { return count(event_kind) >= times; }, ample);
}

void run_until(asio::io_context& context, const started& op)
{
    run_until(context, [&] { return op.done(); }, ample);
}

void eventually(asio::io_context& context, const std::function<bool()>& reached,
                milliseconds patience)
{
    const auto work = asio::make_work_guard(context);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!reached()) {
        if (std::chrono::steady_clock::now() >= end)
            throw std::runtime_error("eventually: it did not happen in time");
        context.restart();
        context.run_for(3ms);
    }
}

void run_some(asio::io_context& context, std::size_t handlers)
{
    const auto work = asio::make_work_guard(context);
    context.restart();
    while (handlers-- > 0 && context.run_one_for(1ms) > 0) {
    }
}

lock_options leased(milliseconds time)
{
    lock_options how;
    how.lease_time = time;
    return how;
}

lock_options patient(milliseconds time)
{
    lock_options how = leased(time);
    how.backoff_floor = 60s;
    how.backoff_ceiling = 60s;
    return how;
}

} // namespace leasehold::test
