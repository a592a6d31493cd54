#include "status_word.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cstddef>

namespace leasehold::tool {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::string_view not_allowed = "not executed because it is not in the whitelist";

} // namespace

std::string answer_to_word(const zookeeper_config::address& at, std::string_view word,
                           std::chrono::milliseconds limit)
{
    asio::io_context context(1);
    asio::ip::tcp::resolver resolver(context);
    asio::ip::tcp::socket socket(context);
    std::string answer;
    bool complete = false;
    const auto read = [&](error_code failed, std::size_t) {
        if (!failed) // the server closes the connection after its answer
            asio::async_read(
                socket, asio::dynamic_buffer(answer),
                [&](error_code end, std::size_t) { complete = end == asio::error::eof; });
    };
    const auto ask = [&](error_code failed, const asio::ip::tcp::endpoint&) {
        if (!failed)
            asio::async_write(socket, asio::buffer(word), read);
    };
    resolver.async_resolve(at.host, std::to_string(at.port),
                           asio::ip::tcp::resolver::numeric_service,
                           [&](error_code failed, const auto& found) {
                               if (!failed)
                                   asio::async_connect(socket, found, ask);
                           });
    context.run_for(limit);
    return complete && answer.find(not_allowed) == answer.npos ? answer : std::string();
}

std::string line_of(std::string_view answer, std::string_view name)
{
    while (!answer.empty()) {
        const std::string_view line = answer.substr(0, answer.find('\n'));
        if (line.starts_with(name))
            return std::string(line.substr(name.size()));
        answer.remove_prefix(std::min(line.size() + 1, answer.size()));
    }
    return {};
}

} // namespace leasehold::tool
