#include "trial.hpp"

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> lock_and_release(client& locks, const std::string& key)
{
    lock_options options;
    options.lease_time = std::chrono::seconds(10);
    options.wait_limit = std::chrono::seconds(0);
    const mutex trial(locks, key, options);
    lease held = co_await trial.async_try_lock();
    co_await held.async_release();
}

asio::awaitable<std::exception_ptr> attempt(client& locks, const std::string& key)
{
    std::exception_ptr failed;
    try {
        co_await lock_and_release(locks, key);
    }
    catch (...) {
        failed = std::current_exception();
    }
    co_await locks.async_shutdown();
    co_return failed;
}

} // namespace

void try_lock(std::shared_ptr<store> locks_in, const std::string& key, findings& to)
{
    asio::io_context context;
    client locks(context, std::move(locks_in), nullptr);
    locks.async_run(asio::detached);
    std::exception_ptr failed;
    asio::co_spawn(context, attempt(locks, key),
                   [&](std::exception_ptr unforeseen, std::exception_ptr outcome) {
                       failed = unforeseen ? unforeseen : outcome;
                   });
    context.run();
    if (!failed)
        return;
    try {
        std::rethrow_exception(std::move(failed));
    }
    catch (const boost::system::system_error& error) {
        if (error.code() == errc::held) {
            to.push_back({level::note,
                          "trial",
                          {},
                          "the lock '" + key + "' is held by another owner",
                          "Acquire and release were not tested.",
                          "Pass a key that is free."});
            return;
        }
        to.push_back({level::problem,
                      "trial",
                      {},
                      "the lock '" + key + "' cannot be acquired and released: " + error.what(),
                      "Programs get the same error.",
                      "See the other findings."});
    }
}

} // namespace leasehold::tool::doctor
