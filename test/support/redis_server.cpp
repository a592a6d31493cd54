#include "support/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace leasehold::test {
namespace {

pid_t start(std::vector<std::string> command)
{
    std::vector<char*> arguments;
    for (std::string& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t process = ::fork();
    if (process == 0) {
        ::execvp(arguments.front(), arguments.data());
        ::_exit(127);
    }
    return process;
}

bool accepts(const std::string& socket)
{
    boost::asio::io_context context;
    boost::asio::local::stream_protocol::socket probe(context);
    boost::system::error_code error;
    return !probe.connect(boost::asio::local::stream_protocol::endpoint(socket), error);
}

} // namespace

redis_server::redis_server(std::vector<std::string> options)
{
    std::string pattern = (std::filesystem::temp_directory_path() / "leasehold-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        throw std::runtime_error("no temporary directory for redis-server");
    directory_ = pattern;
    socket_ = directory_ + "/socket";

    std::vector<std::string> command{"redis-server", "--port",    "0",  "--unixsocket", socket_, "--dir",
                                     directory_,     "--save",    "",   "--loglevel",   "warning",
                                     "--logfile",    directory_ + "/log"};
    command.insert(command.end(), options.begin(), options.end());
    process_ = start(std::move(command));

    // A process of another program offers no event to wait for; it is asked until it answers or ends.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!accepts(socket_)) {
        if (::waitpid(process_, nullptr, WNOHANG) == process_) {
            process_ = -1;
            throw std::runtime_error("redis-server ended at start");
        }
        if (std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("redis-server does not accept connections");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

redis_server::~redis_server()
{
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

} // namespace leasehold::test
