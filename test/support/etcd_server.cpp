#include "support/etcd_server.hpp"

#include "support/unprivileged.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace {

constexpr std::chrono::seconds etcd_start_limit{120};
constexpr int health_limit_ms = 500;

std::string url_of_port(std::uint16_t port)
{
    return "http://127.0.0.1:" + std::to_string(port);
}

/// Whether the server has a leader.
bool is_healthy(std::uint16_t port)
{
    namespace asio = boost::asio;
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    boost::system::error_code failed;
    socket.connect({asio::ip::address_v4::loopback(), port}, failed);
    if (failed)
        return false;
    asio::write(socket, asio::buffer(std::string_view("GET /health HTTP/1.0\r\n\r\n")), failed);
    std::string answer;
    char part[1024];
    pollfd ready{socket.native_handle(), POLLIN, 0};
    while (!failed && ::poll(&ready, 1, health_limit_ms) > 0)
        answer.append(part, socket.read_some(asio::buffer(part), failed));
    return answer.find("\"true\"") != answer.npos;
}

} // namespace

etcd_server::etcd_server(std::vector<std::string> options, std::string scheme)
    : scheme_(std::move(scheme)),
      options_{"--initial-cluster",
               "default=" + url_of_port(own_peer_port_.number()),
               "--listen-peer-urls",
               url_of_port(own_peer_port_.number()),
               "--initial-advertise-peer-urls",
               url_of_port(own_peer_port_.number())}
{
    for (std::string& each : options)
        options_.push_back(std::move(each));
    launch_server();
    wait_until_ready();
}

etcd_server::etcd_server(const std::string& name, const std::string& peer_url,
                         const std::string& members)
    : options_{"--name",
               name,
               "--initial-cluster",
               members,
               "--listen-peer-urls",
               peer_url,
               "--initial-advertise-peer-urls",
               peer_url}
{
    launch_server();
}

void etcd_server::start()
{
    launch_server();
    wait_until_ready();
}

void etcd_server::launch_server()
{
    const std::string clients = scheme_ + "://" + address();
    std::vector<std::string> command{"sh",
                                     "-c",
                                     R"(exec "$@" >>log 2>&1)",
                                     "sh",
                                     "etcd",
                                     "--data-dir",
                                     directory_.file("data"),
                                     "--listen-client-urls",
                                     clients,
                                     "--advertise-client-urls",
                                     clients,
                                     "--listen-metrics-urls",
                                     url_of_port(health_port_.number())};
    command.insert(command.end(), options_.begin(), options_.end());
    server_ = child({.command = unprivileged(directory_.path(), std::move(command))});
}

// The server has no event to wait for, so it is asked until it is ready or ends.
void etcd_server::wait_until_ready()
{
    const auto limit = std::chrono::steady_clock::now() + etcd_start_limit;
    while (!is_healthy(health_port_.number())) {
        if (!server_.running() || std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("etcd does not start:\n" + log());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

std::string etcd_server::missing()
{
    return find_program("etcd").empty() ? "etcd is not installed (package etcd-server)" : "";
}

} // namespace leasehold::test
