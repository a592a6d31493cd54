#include "fenced_files/server.hpp"

#include <leasehold/extras/guard/file.hpp>
#include <leasehold/extras/guard/http.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace guard = leasehold::guard;
using asio::ip::tcp;
using leasehold::error_code;

namespace example {
namespace {

constexpr std::uint64_t largest_file = 1 << 20;

/// Whether the name is that of a file in the folder, and not of a file that the guard makes.
bool usable(std::string_view name)
{
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    };
    return !name.empty() && name.size() <= 100 && std::ranges::all_of(name, fits);
}

/// The values of the field, joined as in RFC 9110; nothing if there is no such field.
template <class Request>
std::optional<std::string> field_of(const Request& incoming)
{
    const auto [begin, end] = incoming.equal_range(std::string(guard::http_field));
    std::optional<std::string> joined;
    for (auto field = begin; field != end; ++field) {
        if (joined)
            *joined += ", ";
        joined = joined.value_or("") + std::string(field->value());
    }
    return joined;
}

http::response<http::string_body> with_status(unsigned status, std::string body = {})
{
    http::response<http::string_body> result;
    result.result(status);
    result.body() = std::move(body);
    return result;
}

} // namespace

fenced_file_server::fenced_file_server(asio::io_context& context, std::filesystem::path directory,
                                       std::uint16_t port)
    : directory_(std::move(directory)),
      acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), port))
{
    asio::co_spawn(context, accept(), asio::detached);
}

tcp::endpoint fenced_file_server::endpoint() const
{
    return acceptor_.local_endpoint();
}

void fenced_file_server::stop()
{
    acceptor_.close();
    for (tcp::socket* client : clients_)
        client->close();
}

asio::awaitable<void> fenced_file_server::accept()
{
    for (;;) {
        error_code failed;
        tcp::socket client = co_await acceptor_.async_accept(asio::redirect_error(failed));
        if (failed)
            co_return;
        asio::co_spawn(acceptor_.get_executor(), serve(std::move(client)), asio::detached);
    }
}

asio::awaitable<void> fenced_file_server::serve(tcp::socket client)
{
    clients_.insert(&client);
    boost::beast::flat_buffer received;
    for (;;) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(largest_file);
        error_code failed;
        co_await http::async_read(client, received, parser, asio::redirect_error(failed));
        if (failed && failed != http::error::body_limit)
            break;
        response reply = with_status(413);
        if (!failed)
            reply = co_await answer(parser.get());
        reply.version(parser.get().version());
        reply.keep_alive(!failed && parser.get().keep_alive());
        reply.prepare_payload();
        co_await http::async_write(client, reply, asio::redirect_error(failed));
        if (failed || !reply.keep_alive())
            break;
    }
    clients_.erase(&client);
}

asio::awaitable<fenced_file_server::response> fenced_file_server::answer(const request& incoming)
{
    const std::string_view target = incoming.target();
    if (!target.starts_with('/') || !usable(target.substr(1)))
        co_return with_status(404);
    if (incoming.method() != http::verb::get && incoming.method() != http::verb::put)
        co_return with_status(405);
    const std::filesystem::path path = directory_ / target.substr(1);
    // The guard waits for the disk and for other writers, which must not block the server's thread.
    co_return co_await asio::co_spawn(disk_, use(path, incoming), asio::use_awaitable);
}

asio::awaitable<fenced_file_server::response> fenced_file_server::use(
    const std::filesystem::path& path, const request& incoming)
{
    co_return incoming.method() == http::verb::get ? read(path) : write(path, incoming);
}

fenced_file_server::response fenced_file_server::read(const std::filesystem::path& path) const
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return with_status(404);
    return with_status(200, std::string(std::istreambuf_iterator<char>(file), {}));
}

// Enforcement of the fence.
// [guard]
fenced_file_server::response fenced_file_server::write(const std::filesystem::path& path,
                                                       const request& incoming) const
{
    const guard::file file(path);
    error_code result;
    const std::uint64_t fence = guard::fence_of_http(field_of(incoming), result);
    if (!result)
        result = file.replace(fence, incoming.body());
    response reply = with_status(guard::http_status(result), result ? result.message() + '\n' : "");
    if (result == guard::errc::stale_fence) {
        error_code unreadable;
        const std::uint64_t newest = file.newest_fence(unreadable);
        if (!unreadable)
            reply.set(std::string(guard::http_field), std::to_string(newest));
    }
    return reply;
}
// [/guard]

} // namespace example
