#include "server_figures.hpp"

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
        throw std::runtime_error("the server does not report " + name);
    return std::strtod(found->second.c_str(), nullptr);
}

} // namespace

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
