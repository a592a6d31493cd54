// An HTTP server that rejects the late write of a client that lost its lock unnoticed. Two clients
// write the same file under a lock. The first is paused for longer than its lease, and then writes.
//
// With --serve it only serves a folder, until SIGINT or SIGTERM.
#include "fenced_files/server.hpp"
#include "support/arguments.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>
#include <leasehold/extras/guard/http.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

// A write carries the fence of the lease it is made under.
// [put]
asio::awaitable<unsigned> put(tcp::endpoint server, std::string name, std::string content,
                              std::uint64_t fence)
{
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server);
    http::request<http::string_body> request(http::verb::put, '/' + name, 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(std::string(leasehold::guard::http_field), std::to_string(fence));
    request.body() = std::move(content);
    request.prepare_payload();
    co_await http::async_write(socket, request);
    boost::beast::flat_buffer received;
    http::response<http::string_body> response;
    co_await http::async_read(socket, received, response);
    co_return response.result_int();
}
// [/put]

asio::awaitable<std::string> get(tcp::endpoint server, std::string name)
{
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server);
    http::request<http::string_body> request(http::verb::get, '/' + name, 11);
    request.set(http::field::host, "127.0.0.1");
    co_await http::async_write(socket, request);
    boost::beast::flat_buffer received;
    http::response<http::string_body> response;
    co_await http::async_read(socket, received, response);
    co_return response.body();
}

asio::awaitable<leasehold::lease> take(leasehold::client& locks,
                                       std::chrono::milliseconds lease_time)
{
    const leasehold::mutex lock(locks, "report", {.lease_time = lease_time});
    co_return co_await lock.async_lock();
}

asio::awaitable<void> write_both(example::fenced_file_server& server, leasehold::client& locks,
                                 const leasehold::lease& sleeper, bool& passed)
{
    const tcp::endpoint where = server.endpoint();
    leasehold::lease holder = co_await take(locks, 30s);
    std::cout << "second client: lock acquired, fencing token " << holder.fence() << '\n';
    const unsigned accepted = co_await put(where, "report", "of the second\n", holder.fence());
    std::cout << "second client: its write returns " << accepted << '\n';
    const unsigned refused = co_await put(where, "report", "of the first\n", sleeper.fence());
    std::cout << "first client: resumed, its write with token " << sleeper.fence() << " returns "
              << refused << '\n';
    const std::string content = co_await get(where, "report");
    std::cout << "content of the file: " << content;
    passed = accepted == 204 && refused == 412 && content == "of the second\n";
    co_await holder.async_release();
    server.stop();
}

/// A folder that is removed with its content.
class temporary_folder
{
public:
    temporary_folder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "fenced-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error("no folder can be made at " + pattern);
        path_ = pattern;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

int play_through()
{
    const temporary_folder folder;
    // Each client has a context of its own, as if it were a process: the pause stops the whole
    // context.
    asio::io_context first(1);
    asio::io_context second(1);
    leasehold::client locks_of_first(first, "memory:fenced-files");
    leasehold::client locks_of_second(second, "memory:fenced-files");
    locks_of_first.async_run(asio::detached);
    locks_of_second.async_run(asio::detached);

    leasehold::lease sleeper;
    asio::co_spawn(first, take(locks_of_first, 100ms),
                   [&](std::exception_ptr failure, leasehold::lease got) {
                       example::rethrow(failure);
                       sleeper = std::move(got);
                       first.stop();
                   });
    first.run();
    std::cout << "first client: lock acquired, fencing token " << sleeper.fence()
              << ", then paused\n";

    example::fenced_file_server server(second, folder.path(), 0);
    bool passed = false;
    asio::co_spawn(second, write_both(server, locks_of_second, sleeper, passed),
                   [&](std::exception_ptr failure) {
                       example::rethrow(failure);
                       locks_of_second.async_shutdown(asio::detached);
                   });
    second.run();
    return passed ? 0 : 1;
}

int serve(const std::string& directory, int port)
{
    asio::io_context context(1);
    example::fenced_file_server server(context, directory, static_cast<std::uint16_t>(port));
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code, int) { server.stop(); });
    std::cout << "listening on " << server.endpoint() << std::endl;
    context.run();
    return 0;
}

} // namespace

int main(int argc, char** argv)
try {
    bool serves = false;
    int port = 0;
    std::string directory = ".";
    example::arguments line("An HTTP server that rejects writes with an old fencing token.");
    line.flag("--serve", serves, "serve a folder until SIGINT or SIGTERM instead");
    line.text("--directory", "FOLDER", directory, "the folder; default: the current one");
    line.number("--port", port, 0, 65'535, "port on 127.0.0.1, 0: any free port");
    line.parse(argc, argv);
    return serves ? serve(directory, port) : play_through();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
