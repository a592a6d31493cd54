#include "command_monitor.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

namespace leasehold::benchmark {
namespace {

namespace asio = boost::asio;

constexpr std::string_view the_end = "this is where the monitor ends";

} // namespace

command_monitor::command_monitor(const std::string& socket)
{
    const asio::local::stream_protocol::endpoint server(socket);
    monitor_.connect(server);
    asking_.connect(server);
    asio::write(monitor_, asio::buffer(std::string_view("MONITOR\r\n")));
    std::string answer;
    asio::read_until(monitor_, asio::dynamic_buffer(answer), '\n');
    thread_ = std::jthread([this] { listen(); });
}

command_monitor::~command_monitor()
{
    boost::system::error_code ignored;
    monitor_.shutdown(asio::socket_base::shutdown_both, ignored); // ends the thread
}

command_monitor::counts command_monitor::end()
{
    asio::write(asking_, asio::buffer("ECHO \"" + std::string(the_end) + "\"\r\n"));
    thread_.join();
    return seen_;
}

void command_monitor::listen()
{
    std::string unread;
    boost::system::error_code ended;
    while (const std::size_t size = asio::read_until(monitor_, asio::dynamic_buffer(unread), '\n',
                                                     ended)) {
        if (!on_line(std::string_view(unread).substr(0, size)))
            return;
        unread.erase(0, size);
    }
}

// Counts a line: +1700000000.123456 [0 unix:/path] "PING". Inside a script it has [0 lua]. Returns
// false for the last line.
bool command_monitor::on_line(std::string_view line)
{
    const std::size_t by = line.find("] \"");
    if (by == std::string_view::npos || line.substr(0, by).ends_with(" lua"))
        return true;
    const std::string_view command = line.substr(by + 3);
    if (command.find(the_end) != std::string_view::npos)
        return false;
    ++(command.starts_with("PING\"") ? seen_.pings : seen_.commands);
    return true;
}

} // namespace leasehold::benchmark
