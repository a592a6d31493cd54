#ifndef LEASEHOLD_EXAMPLE_LINES_HPP
#define LEASEHOLD_EXAMPLE_LINES_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/redirect_error.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace example {

/// Reads lines from a pipe.
class lines
{
public:
    /// @param pipe A descriptor; closed by this object.
    lines(const boost::asio::any_io_executor& executor, int pipe) : pipe_(executor, pipe) {}

    /// The next line without its line break; nothing at the end of the pipe.
    boost::asio::awaitable<std::optional<std::string>> next()
    {
        boost::system::error_code ended;
        auto into = boost::asio::dynamic_buffer(read_);
        const std::size_t size = co_await boost::asio::async_read_until(
            pipe_, into, '\n', boost::asio::redirect_error(ended));
        std::optional<std::string> line;
        if (!ended) {
            line = read_.substr(0, size - 1);
            read_.erase(0, size);
        }
        co_return line;
    }

private:
    boost::asio::readable_pipe pipe_;
    std::string read_;
};

} // namespace example

#endif
