// The lines that a client writes about problems with a real server.
#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/common_time.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"

#include <leasehold/log_observer.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

/// A client on a thread of its own, and the lines that it writes.
class logged_client
{
public:
    explicit logged_client(const redis_config& settings)
        : locks(context_, make_redis_store(settings),
                std::make_shared<log_observer>([this](std::string_view line) { add(line); }))
    {
        locks.async_run(boost::asio::detached);
        thread_ = std::jthread([this] { context_.run(); });
    }
    ~logged_client()
    {
        locks.cancel();
        work_.reset();
    }
    logged_client(const logged_client&) = delete;
    logged_client& operator=(const logged_client&) = delete;

    /// Returns the first line with this text. Fails the test if it does not come.
    std::string line_with(std::string_view text)
    {
        std::unique_lock lock(mutex_);
        std::string found;
        const bool came = changed_.wait_for(lock, 20s, [&] {
            for (const std::string& each : lines_)
                if (each.find(text) != std::string::npos)
                    found = each;
            return !found.empty();
        });
        std::string all;
        for (const std::string& each : lines_)
            all.append("\n").append(each);
        BOOST_TEST_REQUIRE(came, "no line with '" + std::string(text) + "' in:" + all);
        return found;
    }

    std::size_t count() const
    {
        const std::lock_guard lock(mutex_);
        return lines_.size();
    }

private:
    void add(std::string_view line)
    {
        {
            const std::lock_guard lock(mutex_);
            lines_.emplace_back(line);
        }
        changed_.notify_all();
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()};

public:
    client locks;

private:
    std::jthread thread_;
};

bool has(const std::string& line, std::string_view text)
{
    return line.find(text) != std::string::npos;
}

/// Returns when the client has acquired and released a lock.
void warm_up(logged_client& one)
{
    std::promise<void> done;
    mutex(one.locks, "warm").async_lock([&](error_code, lease held) {
        static_cast<void>(held.valid());
        done.set_value();
    });
    get(done.get_future());
}

/// Acquires the lock, and releases it when the callback has seen it.
void start(const mutex& m)
{
    m.async_lock([](error_code, lease held) { static_cast<void>(held.valid()); });
}

} // namespace

BOOST_AUTO_TEST_CASE(wait_on_another_process_is_written_with_server_holder_and_end)
{
    const redis_server server;
    redis_config settings = at(server);
    settings.client_info = true;
    client_thread holder(settings);
    lease held = holder.lock("orders", {}).held;
    logged_client waiter(settings);
    const auto began = std::chrono::steady_clock::now();
    start(mutex(waiter.locks, "orders"));
    const std::string line = waiter.line_with("waiting for lock 'orders' since ");
    BOOST_TEST((std::chrono::steady_clock::now() - began >= 800ms));
    BOOST_TEST(has(line, "server " + server.socket()), line);
    BOOST_TEST(has(line, "held by client " + holder.locks().id()), line);
    BOOST_TEST(has(line, "pid " + std::to_string(::getpid())), line);
    BOOST_TEST(has(line, "and its lease ends in "), line);
    BOOST_TEST(!holder.release(std::move(held)));
    waiter.line_with("lock 'orders' acquired after ");
    BOOST_TEST(waiter.count() == 2u);
}

BOOST_AUTO_TEST_CASE(server_that_is_down_is_written_with_its_cause_and_return)
{
    redis_server server({}, {.tcp = true});
    logged_client one(at(server.tcp_url()));
    warm_up(one);
    server.kill();
    one.line_with("127.0.0.1:" + std::to_string(server.port()));
    start(mutex(one.locks, "orders"));
    const std::string line = one.line_with("waiting for lock 'orders' since ");
    BOOST_TEST(has(line, "server 127.0.0.1:" + std::to_string(server.port())), line);
    BOOST_TEST(has(line, "Connection refused"), line);
    server.start();
    one.line_with("connected to the store again after ");
    one.line_with("lock 'orders' acquired after ");
}

BOOST_AUTO_TEST_CASE(server_that_never_was_there_is_written_with_its_cause)
{
    const reserved_port free;
    logged_client one(at("redis://127.0.0.1:" + std::to_string(free.number())));
    const std::string line = one.line_with("Connection refused");
    BOOST_TEST(has(line, "server 127.0.0.1:" + std::to_string(free.number())), line);
}

BOOST_AUTO_TEST_CASE(login_that_fails_is_written_with_the_reply_of_the_server)
{
    const redis_server server({"--requirepass", "secret"}, {.tcp = true});
    logged_client one(at("redis://:wrong@127.0.0.1:" + std::to_string(server.port())));
    const std::string line = one.line_with("WRONGPASS");
    BOOST_TEST(has(line, "server 127.0.0.1:" + std::to_string(server.port())), line);
    BOOST_TEST(!has(line, "wrong@"), line);
    BOOST_TEST(!has(line, "secret"), line);
}

BOOST_AUTO_TEST_CASE(paused_server_is_written_before_the_connection_ends)
{
    redis_server server;
    redis_config settings = at(server);
    settings.health_check = 60s;
    logged_client one(settings);
    warm_up(one);
    server.pause();
    start(mutex(one.locks, "other"));
    const std::string line = one.line_with("waiting for lock 'other' since ");
    BOOST_TEST(has(line, make_error_code(errc::outcome_unknown).message()), line);
    server.resume();
    one.line_with("lock 'other' acquired after ");
}
