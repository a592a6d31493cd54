#include "support/client_thread.hpp"

#include "support/tested_layout.hpp"

#include <utility>

namespace leasehold::test {
namespace {

/// Starts an operation whose results become a `T`.
template <class T, class Start>
std::future<T> begin(Start start)
{
    std::promise<T> promise;
    auto result = promise.get_future();
    start([promise = std::move(promise)](auto... values) mutable {
        promise.set_value(T{std::move(values)...});
    });
    return result;
}

} // namespace

void wait_until(const std::function<bool()>& reached, std::chrono::milliseconds limit)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!reached()) {
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error("wait_until: it did not happen in time");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

redis_config at(const std::string& url)
{
    redis_config settings(url);
    settings.layout = tested_layout();
    settings.reconnect = std::chrono::milliseconds(5);
    settings.client_info = false; // tests read the keys of locks
    return settings;
}

redis_config at(const redis_server& server)
{
    return at(server.unix_url());
}

client_thread::client_thread(std::shared_ptr<store> locks)
    : client_(std::make_unique<client>(context_, std::move(locks), observer_))
{
    ended_ = begin<error_code>([&](auto handler) { client_->async_run(std::move(handler)); });
    thread_ = std::jthread([this] { context_.run(); });
}

client_thread::~client_thread()
{
    client_->cancel();
    // It takes at most a second if the store is lost. A test that broke it must not hang.
    if (ended_.wait_for(std::chrono::seconds(10)) != std::future_status::ready)
        context_.stop();
    client_.reset();
    thread_.join();
}

std::future<taken> client_thread::start_lock(const std::string& name, const lock_options& options)
{
    return begin<taken>(
        [&](auto handler) { mutex(*client_, name, options).async_lock(std::move(handler)); });
}

std::future<taken> client_thread::start_try_lock(const std::string& name,
                                                 const lock_options& options)
{
    return begin<taken>(
        [&](auto handler) { mutex(*client_, name, options).async_try_lock(std::move(handler)); });
}

std::future<taken> client_thread::start_reenter(const std::string& name,
                                                const lock_options& options, owner holder)
{
    return begin<taken>([&](auto handler) {
        mutex(*client_, name, options).with_owner(std::move(holder)).async_lock(std::move(handler));
    });
}

std::future<error_code> client_thread::start_release(lease held)
{
    return begin<error_code>([&](auto handler) { held.async_release(std::move(handler)); });
}

std::future<error_code> client_thread::start_wait_lost(lease& held)
{
    return begin<error_code>([&](auto handler) { held.async_wait_lost(std::move(handler)); });
}

} // namespace leasehold::test
