// Metrics for a monitoring system: Boost.Beast answers GET /metrics with the counts of
// leasehold::metrics. Some coroutines contend for a few locks, so that there is something to count.
//
// Without --serve it runs for a moment, fetches its own page as a monitoring system does, prints
// it, and ends. With --serve it runs until SIGINT or SIGTERM.
#include "support/arguments.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

/// Answers GET /metrics on a loopback port.
class metrics_server
{
public:
    metrics_server(asio::io_context& context, std::shared_ptr<const leasehold::metrics> counted,
                   std::uint16_t port)
        : counted_(std::move(counted)),
          acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), port))
    {
        asio::co_spawn(context, accept(), example::rethrow);
    }

    [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    void stop() { acceptor_.close(); }

private:
    asio::awaitable<void> accept()
    {
        for (;;) {
            leasehold::error_code failed;
            tcp::socket asking = co_await acceptor_.async_accept(asio::redirect_error(failed));
            if (failed)
                co_return;
            // Detached, because the error of one request must not affect the others.
            asio::co_spawn(acceptor_.get_executor(), answer(std::move(asking)), asio::detached);
        }
    }

    asio::awaitable<void> answer(tcp::socket asking)
    {
        boost::beast::flat_buffer buffer;
        http::request<http::empty_body> request;
        co_await http::async_read(asking, buffer, request, asio::cancel_after(5s));
        http::response<http::string_body> response(http::status::ok, request.version());
        response.keep_alive(false);
        if (request.target() != "/metrics") {
            response.result(http::status::not_found);
        }
        else if (request.method() != http::verb::get) {
            response.result(http::status::method_not_allowed);
        }
        else {
            // [page]
            response.set(http::field::content_type, leasehold::metrics::content_type);
            response.body() = counted_->text();
            // [/page]
        }
        response.prepare_payload();
        co_await http::async_write(asking, response, asio::cancel_after(5s));
    }

    std::shared_ptr<const leasehold::metrics> counted_;
    tcp::acceptor acceptor_;
};

/// Acquires one of three locks, holds it for a while, and repeats this until the client stops.
asio::awaitable<void> work(leasehold::client& locks, int which)
{
    asio::steady_timer holding(co_await asio::this_coro::executor);
    for (int turn = which;; ++turn) {
        const leasehold::mutex lock(locks, "report:" + std::to_string(turn % 3));
        leasehold::error_code failed;
        leasehold::lease lease = co_await lock.async_lock(asio::redirect_error(failed));
        if (failed)
            co_return; // the client was shut down
        holding.expires_after(1ms * (1 + turn % 5));
        co_await holding.async_wait();
        co_await lease.async_release(asio::redirect_error(failed));
    }
}

/// Fetches the page, as a monitoring system does.
asio::awaitable<std::string> fetch(tcp::endpoint where)
{
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::cancel_after(5s));
    http::request<http::empty_body> request(http::verb::get, "/metrics", 11);
    request.set(http::field::host, "127.0.0.1");
    co_await http::async_write(socket, request, asio::cancel_after(5s));
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    co_await http::async_read(socket, buffer, response, asio::cancel_after(5s));
    co_return response.result() == http::status::ok ? response.body() : std::string();
}

/// Prints all lines except those of histograms. Returns false if the counts of the work are
/// missing.
bool show(const std::string& page)
{
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
        if (line.find("_bucket{") == line.npos && !line.starts_with("# "))
            std::cout << line << '\n';
    return page.find("leasehold_contended_total{lock=\"report\"}") != page.npos &&
           page.ends_with("# EOF\n");
}

asio::awaitable<void> try_it_out(tcp::endpoint where, bool& passed)
{
    asio::steady_timer while_they_work(co_await asio::this_coro::executor, 200ms);
    co_await while_they_work.async_wait();
    passed = show(co_await fetch(where));
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    int workers = 8;
    int port = 0;
    bool serve = false;
    example::arguments line("Serves metrics of locks at /metrics, for Prometheus and others.");
    line.url(url);
    line.number("--workers", workers, 1, 1'000, "coroutines that contend for three locks");
    line.flag("--serve", serve, "serve until SIGINT or SIGTERM instead");
    line.number("--port", port, 0, 65'535, "port on 127.0.0.1, 0: any free port");
    line.parse(argc, argv);

    asio::io_context context(1);
    // [client]
    const auto counted = std::make_shared<leasehold::metrics>();
    leasehold::client locks(context, url, counted);
    locks.async_run(asio::detached);
    // [/client]
    metrics_server server(context, counted, static_cast<std::uint16_t>(port));
    std::ostringstream address;
    address << server.endpoint();
    std::cout << "http://" << address.str() << "/metrics" << std::endl;
    for (int i = 0; i < workers; ++i)
        asio::co_spawn(context, work(locks, i), example::rethrow);

    asio::signal_set signals(context, SIGINT, SIGTERM);
    const auto stop = [&] {
        signals.cancel();
        server.stop();
        locks.async_shutdown(asio::detached);
    };
    signals.async_wait([&](leasehold::error_code aborted, int) {
        if (!aborted)
            stop();
    });
    bool passed = serve;
    if (!serve) {
        asio::co_spawn(context, try_it_out(server.endpoint(), passed),
                       [&](std::exception_ptr failure) {
                           stop();
                           example::rethrow(failure);
                       });
    }
    context.run();
    return passed ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
