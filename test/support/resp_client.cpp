#include "support/resp_client.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>

namespace leasehold::test {
namespace asio = boost::asio;

namespace {

[[noreturn]] void unexpected(const resp_client::words& command, const resp_value& reply)
{
    std::string text;
    for (const std::string& word : command)
        text += word + ' ';
    throw resp_unexpected(text + "-> " + describe(reply));
}

std::uint64_t number_of(std::string_view text)
{
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

// Asio's synchronous functions have no time limit, but its asynchronous ones can be run for a
// limited time.
template <class Start>
boost::system::error_code resp_client::run(Start start)
{
    std::optional<boost::system::error_code> result;
    start([&](boost::system::error_code code, auto...) { result = code; });
    context_.restart();
    context_.run_for(limit_);
    if (!result) {
        boost::system::error_code ignored;
        socket_.close(ignored);
        context_.run();
        throw resp_disconnected("no answer within the time limit");
    }
    return *result;
}

resp_client::resp_client(const stream_endpoint& server, std::chrono::milliseconds limit)
    : limit_(limit)
{
    const auto code = run([&](auto handler) { socket_.async_connect(server, handler); });
    if (code)
        throw resp_disconnected("connect: " + code.message());
}

void resp_client::send_bytes(std::string_view bytes)
{
    const auto code = run(
        [&](auto handler) { asio::async_write(socket_, asio::buffer(bytes), handler); });
    if (code)
        throw resp_disconnected("send: " + code.message());
}

resp_value resp_client::receive()
{
    for (;;) {
        if (auto parsed = parse_resp(received_)) {
            received_.erase(0, parsed->second);
            return std::move(parsed->first);
        }
        std::array<char, 4096> buffer;
        std::size_t size = 0;
        const auto code = run([&](auto handler) {
            socket_.async_read_some(
                asio::buffer(buffer),
                [&size, handler](boost::system::error_code failed, std::size_t n) {
                    size = n;
                    handler(failed);
                });
        });
        if (code)
            throw resp_disconnected("receive: " + code.message());
        received_.append(buffer.data(), size);
    }
}

bool resp_client::wait_until_closed()
{
    try {
        for (;;)
            receive();
    }
    catch (const resp_disconnected&) {
        return socket_.is_open(); // this client's time limit closes it
    }
}

resp_value resp_client::command(const words& command)
{
    send(command);
    return receive();
}

resp_value resp_client::checked(const words& command)
{
    resp_value reply = this->command(command);
    if (reply.is_error())
        unexpected(command, reply);
    return reply;
}

std::int64_t resp_client::integer(const words& command)
{
    const resp_value reply = checked(command);
    if (reply.type == resp_value::kind::integer || reply.type == resp_value::kind::boolean)
        return reply.number;
    std::int64_t number = 0;
    const char* end = reply.text.data() + reply.text.size();
    if (reply.text.empty() || std::from_chars(reply.text.data(), end, number).ptr != end)
        unexpected(command, reply);
    return number;
}

std::optional<std::string> resp_client::maybe_string(const words& command)
{
    resp_value reply = checked(command);
    switch (reply.type) {
    case resp_value::kind::nil: return std::nullopt;
    case resp_value::kind::status:
    case resp_value::kind::string: return std::move(reply.text);
    case resp_value::kind::integer: return std::to_string(reply.number);
    default: unexpected(command, reply);
    }
}

std::string resp_client::string(const words& command)
{
    if (auto text = maybe_string(command))
        return std::move(*text);
    unexpected(command, {});
}

std::vector<std::string> resp_client::strings(const words& command)
{
    const resp_value reply = checked(command);
    if (reply.type != resp_value::kind::array)
        unexpected(command, reply);
    std::vector<std::string> all;
    for (const resp_value& item : reply.items)
        all.push_back(item.type == resp_value::kind::integer ? std::to_string(item.number)
                                                             : item.text);
    return all;
}

void resp_client::done(const words& command)
{
    checked(command);
}

std::map<std::string, std::string> resp_client::info(const std::string& section)
{
    std::map<std::string, std::string> fields;
    const std::string all = string({"INFO", section});
    std::string_view rest = all;
    while (!rest.empty()) {
        const std::size_t end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        if (const std::size_t colon = line.find(':');
            !line.starts_with('#') && colon != std::string_view::npos)
            fields.emplace(line.substr(0, colon), line.substr(colon + 1));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    }
    return fields;
}

std::map<std::string, std::uint64_t> resp_client::calls()
{
    constexpr std::string_view prefix = "cmdstat_", field = "calls=";
    std::map<std::string, std::uint64_t> all;
    for (const auto& [name, value] : info("commandstats")) {
        if (name.starts_with(prefix) && value.starts_with(field))
            all.emplace(name.substr(prefix.size()),
                        number_of(std::string_view(value).substr(field.size())));
    }
    return all;
}

std::uint64_t resp_client::calls(const std::string& command)
{
    const auto all = calls();
    const auto found = all.find(command);
    return found == all.end() ? 0 : found->second;
}

std::vector<std::string> resp_client::channels(const std::string& pattern)
{
    return strings({"PUBSUB", "CHANNELS", pattern});
}

std::int64_t resp_client::subscribers(const std::string& channel)
{
    const resp_value reply = checked({"PUBSUB", "NUMSUB", channel});
    return reply.items.at(1).number;
}

} // namespace leasehold::test
