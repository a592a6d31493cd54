#include "support/redis_server.hpp"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace leasehold::test {
namespace {

constexpr auto start_limit = std::chrono::seconds(30);

// A server that requires a password counts as ready.
bool ready(const redis_server& server)
{
    try {
        const resp_value reply = server.connect(std::chrono::seconds(2)).command({"PING"});
        return !reply.is_error() || !reply.text.starts_with("LOADING");
    }
    catch (const resp_disconnected&) {
        return false;
    }
}

} // namespace

redis_server::redis_server(std::vector<std::string> options, redis_setup setup)
    : options_(std::move(options)), setup_(std::move(setup)), socket_(directory_.file("socket"))
{
    if (setup_.tcp)
        port_.emplace();
    start();
}

std::uint16_t redis_server::port() const
{
    if (!port_)
        throw std::logic_error("this server was started without a TCP port");
    return port_->number();
}

std::string redis_server::url() const
{
    return port_ ? tcp_url() : unix_url();
}

resp_client redis_server::connect(std::chrono::milliseconds limit) const
{
    return resp_client(endpoint(), limit);
}

std::string redis_server::log() const
{
    return text_of(directory_.file("log"));
}

void redis_server::start()
{
    // The port is reserved, but another program may ignore that. The server then gets a new one,
    // except after a restart.
    const bool first = !std::filesystem::exists(directory_.file("log"));
    for (int attempt = 1;; ++attempt) {
        try {
            return try_to_start();
        }
        catch (const std::runtime_error&) {
            if (!port_ || attempt == 5)
                throw;
            if (first)
                port_.emplace();
        }
    }
}

void redis_server::try_to_start()
{
    std::vector<std::string> command{"redis-server",
                                     "--unixsocket",
                                     socket_,
                                     "--dir",
                                     directory_.path().string(),
                                     "--save",
                                     "",
                                     "--loglevel",
                                     "notice",
                                     "--logfile",
                                     directory_.file("log")};
    const std::string port = port_ ? std::to_string(port_->number()) : "0";
    command.insert(command.end(), {"--bind", "127.0.0.1", "--port", port});
    command.insert(command.end(), options_.begin(), options_.end());
    process_ = child({.command = std::move(command), .environment = setup_.environment});

    // The start of another process has no event, so it is polled until it answers or ends.
    const auto limit = std::chrono::steady_clock::now() + start_limit;
    while (!ready(*this)) {
        if (!process_.running())
            throw std::runtime_error("redis-server ended at start:\n" + log());
        if (std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("redis-server does not answer:\n" + log());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void redis_server::terminate()
{
    process_.signal(SIGTERM);
    if (!process_.wait(start_limit))
        throw std::runtime_error("redis-server does not end:\n" + log());
}

void redis_server::restart()
{
    kill();
    start();
}

void redis_server::restart_empty()
{
    kill();
    delete_data();
    start();
}

void redis_server::delete_data()
{
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
        const auto name = entry.path().filename();
        if (name != "log" && name != "socket")
            std::filesystem::remove_all(entry.path());
    }
}

} // namespace leasehold::test
