#include "server_figures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

namespace leasehold::benchmark {
namespace {

double number(const std::map<std::string, std::string>& fields, const std::string& name)
{
    const auto found = fields.find(name);
    if (found == fields.end())
        throw std::runtime_error("the server does not tell its " + name);
    return std::strtod(found->second.c_str(), nullptr);
}

} // namespace

asio::awaitable<void> count_commands(raw_client& raw, std::uint64_t& sum)
{
    static constexpr std::array not_sent{
        "info",     "time",       "pttl",   "hexists", "hsetnx", "hincrby", "pexpire", "get",
        "set",      "hset",       "hget",   "hdel",    "hlen",   "del",     "publish", "exists",
        "flushall", "hrandfield", "incrby", "lindex",  "lpos",   "lpop",    "lrem",    "rpush"};
    const auto fields = co_await raw.info("commandstats");
    sum = 0;
    for (const auto& [name, value] : fields) {
        const bool inner = std::find(not_sent.begin(), not_sent.end(),
                                     name.substr(name.find('_') + 1)) != not_sent.end();
        const std::size_t calls = value.find("calls=");
        if (!inner && calls != std::string::npos)
            sum += std::strtoull(value.c_str() + calls + 6, nullptr, 10);
    }
}

asio::awaitable<void> server_cpu(raw_client& raw, double& sum)
{
    const auto fields = co_await raw.info("cpu");
    sum = number(fields, "used_cpu_user") + number(fields, "used_cpu_sys");
}

asio::awaitable<void> server_reads(raw_client& raw, double& sum)
{
    sum = number(co_await raw.info("stats"), "total_reads_processed");
}

asio::awaitable<void> server_memory(raw_client& raw, double& bytes)
{
    bytes = number(co_await raw.info("memory"), "used_memory");
}

} // namespace leasehold::benchmark
