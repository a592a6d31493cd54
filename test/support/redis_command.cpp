#include "support/redis_command.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

namespace leasehold::test {
namespace {

namespace asio = boost::asio;

class connection
{
public:
    explicit connection(const std::string& socket) : socket_(context_)
    {
        socket_.connect(asio::local::stream_protocol::endpoint(socket));
    }

    void send(const std::vector<std::string_view>& words)
    {
        std::string text;
        text.append("*").append(std::to_string(words.size())).append("\r\n");
        for (const std::string_view word : words) {
            text.append("$").append(std::to_string(word.size())).append("\r\n");
            text.append(word).append("\r\n");
        }
        asio::write(socket_, asio::buffer(text));
    }

    std::string receive()
    {
        const std::string line = read_line();
        const std::string value = line.substr(1);
        if (line[0] == '$')
            return value == "-1" ? std::string("(nil)") : read_bytes(std::stoul(value));
        if (line[0] != '*')
            return line[0] == '-' ? line : value;
        std::string all;
        for (long i = 0, count = std::stol(value); i < count; ++i) {
            if (i != 0)
                all += ' ';
            all += receive();
        }
        return all;
    }

private:
    std::string read_line()
    {
        const std::size_t size = asio::read_until(socket_, asio::dynamic_buffer(input_), "\r\n");
        const std::string line = input_.substr(0, size - 2);
        input_.erase(0, size);
        return line;
    }

    std::string read_bytes(std::size_t count)
    {
        char bytes[4096];
        while (input_.size() < count + 2)
            input_.append(bytes, socket_.read_some(asio::buffer(bytes)));
        const std::string result = input_.substr(0, count);
        input_.erase(0, count + 2);
        return result;
    }

    asio::io_context context_;
    asio::local::stream_protocol::socket socket_;
    std::string input_;
};

} // namespace

std::string redis_command(const std::string& socket, const std::vector<std::string_view>& words)
{
    connection to(socket);
    to.send(words);
    return to.receive();
}

} // namespace leasehold::test
