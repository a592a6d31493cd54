#include "support/zookeeper_server.hpp"

#include "support/unprivileged.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace {

constexpr std::chrono::seconds zookeeper_start_limit{120};
constexpr int answer_limit_ms = 500;
constexpr const char* zookeeper_jar = "/usr/share/java/zookeeper.jar";

/// The server's answer to a command of four letters; empty: none.
std::string answer_to(std::uint16_t port, std::string_view command)
{
    namespace asio = boost::asio;
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    boost::system::error_code failed;
    socket.connect({asio::ip::address_v4::loopback(), port}, failed);
    if (failed)
        return {};
    asio::write(socket, asio::buffer(command), failed);
    // A server that begins to listen may never answer its first connection.
    std::string answer;
    char part[1024];
    pollfd ready{socket.native_handle(), POLLIN, 0};
    while (!failed && ::poll(&ready, 1, answer_limit_ms) > 0)
        answer.append(part, socket.read_some(asio::buffer(part), failed));
    return failed == asio::error::eof ? answer : std::string();
}

} // namespace

zookeeper_server::zookeeper_server(std::vector<std::string> settings, int number)
    : alone_(number == 0)
{
    std::ofstream(directory_.file("myid")) << number;
    std::ofstream file(directory_.file("zoo.cfg"));
    file << "tickTime=" << tick.count()
         << "\nmaxSessionTimeout=60000\ndataDir=" << directory_.file("data")
         << "\nclientPort=" << port() << '\n'
         << "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
            "4lw.commands.whitelist=*\nmaxClientCnxns=0\n";
    for (const std::string& each : settings)
        file << each << '\n';
    file.close();
    launch_server();
    if (alone_)
        wait_until_ready();
}

void zookeeper_server::start()
{
    launch_server();
    if (alone_)
        wait_until_ready();
}

void zookeeper_server::launch_server()
{
    server_ = child({.command = unprivileged(
                         directory_.path(),
                         {"sh", "-c", R"(mkdir -p data && cp myid data && exec "$@" >>log 2>&1)",
                          "sh", "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                          "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=64", "-cp",
                          std::string(zookeeper_jar) + ":/usr/share/java/*",
                          alone_ ? "org.apache.zookeeper.server.ZooKeeperServerMain"
                                 : "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                          directory_.file("zoo.cfg")})});
}

// The server has no event to wait for, so it is asked until it is ready or ends.
void zookeeper_server::wait_until_ready()
{
    const auto limit = std::chrono::steady_clock::now() + zookeeper_start_limit;
    while (mode().empty()) {
        if (!server_.running() || std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("zookeeper does not start:\n" + log());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

std::string zookeeper_server::mode() const
{
    constexpr std::string_view mark = "Mode: ";
    const std::string answer = answer_to(port(), "srvr");
    const std::size_t at = answer.find(mark);
    if (at == answer.npos)
        return {};
    const std::size_t begin = at + mark.size();
    return answer.substr(begin, answer.find('\n', begin) - begin);
}

std::string zookeeper_server::missing()
{
    if (find_program("java").empty())
        return "java is not installed (package default-jre-headless)";
    if (!std::filesystem::exists(zookeeper_jar))
        return "zookeeper.jar is not installed (package zookeeper)";
    return {};
}

} // namespace leasehold::test
