// A server whose locks share its own Redis connection. Each session makes bookings on accounts. A
// booking reads the balance and writes it back. So two bookings of one account must not run at the
// same time, not even in another instance of this server.
//
// Without --serve it connects some clients, checks the balances, and ends. With --serve it runs
// until SIGINT or SIGTERM.
#include "support/arguments.hpp"
#include "support/redis.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/logger.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace redis = boost::redis;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

/// Listens on a loopback port. A line from a client is the name of an account; the answer is its
/// new balance, or "error: …".
class server
{
public:
    server(asio::io_context& context, const leasehold::redis_config& where, std::uint16_t port)
        : context_(context),
          connection_(std::make_shared<redis::connection>(
              context, redis::logger(redis::logger::level::crit))),
          locks_(context, leasehold::make_redis_store(connection_, where)),
          acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
          signals_(context, SIGINT, SIGTERM)
    {
        connection_->async_run(example::connection_config(where),
                               asio::consign(asio::detached, connection_));
        locks_.async_run(asio::detached);
        asio::co_spawn(context, accept(), example::rethrow);
        signals_.async_wait([this](leasehold::error_code aborted, int) {
            if (!aborted)
                stop();
        });
    }

    [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    asio::awaitable<void> ready() { return example::expect_server(*connection_); }

    [[nodiscard]] std::string key(const std::string& account) const { return prefix_ + account; }

    [[nodiscard]] bool stopping() const { return stopping_; }

    /// Accepts no more clients, releases all locks, and closes all connections.
    void stop()
    {
        if (std::exchange(stopping_, true))
            return;
        asio::co_spawn(context_, shut_down(), example::rethrow);
    }

    asio::awaitable<int> balance(const std::string& account)
    {
        redis::request request;
        request.push("GET", key(account));
        redis::response<std::optional<int>> response;
        co_await connection_->async_exec(request, response, asio::cancel_after(5s));
        co_return std::get<0>(response).value().value_or(0);
    }

private:
    asio::awaitable<void> accept()
    {
        for (;;) {
            leasehold::error_code failed;
            tcp::socket client = co_await acceptor_.async_accept(asio::redirect_error(failed));
            if (failed)
                co_return;
            asio::co_spawn(context_, session(std::move(client)), example::rethrow);
        }
    }

    asio::awaitable<void> session(tcp::socket client)
    {
        sessions_.insert(&client);
        std::string read;
        for (;;) {
            leasehold::error_code failed;
            auto into = asio::dynamic_buffer(read);
            const std::size_t size = co_await asio::async_read_until(client, into, '\n',
                                                                     asio::redirect_error(failed));
            if (failed)
                break;
            const std::string account = read.substr(0, size - 1);
            read.erase(0, size);
            const std::string answer = co_await book(account);
            co_await asio::async_write(client, asio::buffer(answer), asio::redirect_error(failed));
            if (failed)
                break;
        }
        sessions_.erase(&client);
    }

    asio::awaitable<std::string> book(std::string account)
    {
        std::string answer;
        try {
            const leasehold::mutex lock(locks_, key(account) + ":lock",
                                        {.lease_time = 10s, .wait_limit = 5s});
            leasehold::lease lease = co_await lock.async_lock();
            const int booked = co_await balance(account) + 1;
            redis::request request;
            request.push("SET", key(account), booked, "EX", 3600);
            co_await connection_->async_exec(request, redis::ignore, asio::cancel_after(5s));
            co_await lease.async_release();
            answer = std::to_string(booked) + '\n';
        }
        catch (const boost::system::system_error& failure) {
            answer = "error: " + failure.code().message() + '\n';
        }
        co_return answer;
    }

    asio::awaitable<void> shut_down()
    {
        acceptor_.close();
        signals_.cancel();
        leasehold::error_code unreleased;
        // Pending acquires fail, and leases end.
        co_await locks_.async_shutdown(asio::redirect_error(unreleased));
        for (tcp::socket* client : sessions_)
            client->close();
        connection_->cancel();
    }

    asio::io_context& context_;
    const std::string prefix_ = example::new_key() + ':';
    std::shared_ptr<redis::connection> connection_;
    leasehold::client locks_;
    tcp::acceptor acceptor_;
    asio::signal_set signals_;
    std::set<tcp::socket*> sessions_;
    bool stopping_ = false;
};

/// Makes bookings on two accounts alternately, until all are made or one fails.
asio::awaitable<void> be_client(tcp::endpoint where, int bookings, int& booked)
{
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where);
    std::string read;
    for (int i = 0; i < bookings; ++i) {
        const std::string line = i % 2 == 0 ? "rent\n" : "food\n";
        leasehold::error_code failed;
        co_await asio::async_write(socket, asio::buffer(line), asio::redirect_error(failed));
        auto into = asio::dynamic_buffer(read);
        const std::size_t size = co_await asio::async_read_until(socket, into, '\n',
                                                                 asio::redirect_error(failed));
        if (failed || read.starts_with("error"))
            co_return;
        read.erase(0, size);
        ++booked;
    }
}

asio::awaitable<void> try_it_out(server& tried, int clients, int bookings, bool& passed)
{
    co_await tried.ready();
    const tcp::endpoint where = tried.endpoint();
    const auto executor = co_await asio::this_coro::executor;
    int running = clients;
    int booked = 0;
    asio::steady_timer done(executor, asio::steady_timer::time_point::max());
    for (int i = 0; i < clients; ++i) {
        asio::co_spawn(executor, be_client(where, bookings, booked),
                       [&](std::exception_ptr failure) {
                           example::rethrow(failure);
                           if (--running == 0)
                               done.cancel();
                       });
    }
    while (running > 0) {
        leasehold::error_code woken;
        co_await done.async_wait(asio::redirect_error(woken));
    }

    if (tried.stopping()) {
        std::cout << "stopped by a signal after " << booked << " bookings\n";
        passed = true;
        co_return;
    }
    const int rent = co_await tried.balance("rent");
    const int food = co_await tried.balance("food");
    std::cout << clients << " clients booked " << booked << " times; balances: " << rent
              << " rent, " << food << " food\n";
    passed = booked == clients * bookings && rent + food == booked;
    tried.stop();
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "redis://127.0.0.1:6379";
    int clients = 8;
    int bookings = 50;
    int port = 0;
    bool serve = false;
    example::arguments line("A small TCP server that uses locks over its own Redis connection, and "
                            "clients that use it.");
    line.url(url, example::stores::servers_only);
    line.number("--clients", clients, 1, 1'000, "number of clients");
    line.number("--bookings", bookings, 1, 1'000'000, "bookings of each client");
    line.flag("--serve", serve, "serve until SIGINT or SIGTERM instead");
    line.number("--port", port, 0, 65'535, "port on 127.0.0.1, 0: any free port");
    line.parse(argc, argv);

    asio::io_context context(1);
    server running(context, leasehold::redis_config(url), static_cast<std::uint16_t>(port));
    std::cout << "listening on " << running.endpoint() << std::endl;
    bool passed = serve;
    if (!serve)
        asio::co_spawn(context, try_it_out(running, clients, bookings, passed), example::rethrow);
    context.run();
    std::cout << "stopped\n";
    return passed ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
