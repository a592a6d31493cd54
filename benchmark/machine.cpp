#include "machine.hpp"

#include "crew.hpp"
#include "raw_client.hpp"

#include <boost/config.hpp>
#include <boost/version.hpp>

#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace leasehold::benchmark {
namespace {

std::string processor()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            const std::size_t colon = line.find(": ");
            return colon == std::string::npos ? line : line.substr(colon + 2);
        }
    }
    return "unknown";
}

std::string system()
{
    utsname name{};
    ::uname(&name);
    return std::string(name.sysname) + ' ' + name.release + ' ' + name.machine;
}

std::string boost_version()
{
    return std::to_string(BOOST_VERSION / 100'000) + '.' +
           std::to_string(BOOST_VERSION / 100 % 1'000) + '.' + std::to_string(BOOST_VERSION % 100);
}

asio::awaitable<void> ask(raw_client& raw, std::string& version)
{
    const auto fields = co_await raw.info("server");
    const auto valkey = fields.find("valkey_version");
    const auto redis = fields.find("redis_version");
    if (valkey != fields.end())
        version = "Valkey " + valkey->second;
    else if (redis != fields.end())
        version = "Redis " + redis->second;
}

} // namespace

facts machine(const std::string& socket)
{
    asio::io_context context(1);
    raw_client raw(context, socket);
    std::string server = "unknown";
    run(context, ask(raw, server));
#ifdef NDEBUG
    const char* const build = "optimised";
#else
    const char* const build = "with assertions: the figures are not representative";
#endif
    return {
        {"compiler", BOOST_COMPILER},
        {"build", build},
        {"boost", boost_version()},
        {"server", server + ", unix socket, this machine"},
        {"system", system()},
        {"processor", processor()},
        {"cores", std::to_string(std::thread::hardware_concurrency())},
    };
}

} // namespace leasehold::benchmark
