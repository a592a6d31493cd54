#include "raw_client.hpp"

#include <leasehold_scripts.hpp>

#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace leasehold::benchmark {

namespace redis = boost::redis;

raw_client::raw_client(asio::io_context& context, const std::string& socket)
    : connection_(
          std::make_shared<redis::connection>(context, redis::logger(redis::logger::level::emerg)))
{
    redis::config where;
    where.unix_socket = socket;
    where.health_check_interval = std::chrono::seconds(0); // its PING would count
    connection_->async_run(where, [connection = connection_](boost::system::error_code) {});
}

raw_client::~raw_client()
{
    connection_->cancel();
}

asio::awaitable<std::string> raw_client::load(const char* text)
{
    redis::request request;
    request.push("SCRIPT", "LOAD", text);
    redis::response<std::string> sha;
    co_await connection_->async_exec(request, sha);
    co_return std::get<0>(sha).value();
}

asio::awaitable<void> raw_client::prepare()
{
    release_ = co_await load(scripts::native_release);
    bare_release_ = co_await load("if redis.call('GET', KEYS[1]) == ARGV[1] then "
                                  "return redis.call('DEL', KEYS[1]) end return 0");
}

// An owner as long as the library's, and new for each acquisition.
std::string raw_client::next_owner()
{
    return "9d9bf2a6-3ad6-4d1c-8f6b-5e7c1f2a3b4c:" + std::to_string(++owners_);
}

asio::awaitable<void> raw_client::bare_cycle(std::string name,
                                             std::chrono::steady_clock::time_point end,
                                             std::uint64_t& cycles)
{
    redis::request request;
    redis::response<std::optional<std::string>> acquired;
    redis::response<std::int64_t> released;
    while (std::chrono::steady_clock::now() < end) {
        const std::string owner = next_owner();
        request.clear();
        request.push("SET", name, owner, "NX", "PX", 30'000);
        std::get<0>(acquired).value().reset(); // Boost.Redis appends to an existing text
        co_await connection_->async_exec(request, acquired);
        if (std::get<0>(acquired).value() != "OK")
            throw std::runtime_error("the bare lock was not free");
        request.clear();
        request.push("EVALSHA", bare_release_, 1, name, owner);
        co_await connection_->async_exec(request, released);
        if (std::get<0>(released).value() != 1)
            throw std::runtime_error("the bare lock was lost");
        ++cycles;
    }
}

asio::awaitable<void> raw_client::cycle(std::string name, std::chrono::steady_clock::time_point end,
                                        std::uint64_t& cycles)
{
    redis::request request;
    redis::response<std::optional<std::string>, std::int64_t> acquired;
    redis::response<std::int64_t> released;
    while (std::chrono::steady_clock::now() < end) {
        const std::string owner = "lh:" + next_owner();
        request.clear();
        request.push("SET", name, owner, "NX", "PX", 30'000, "GET");
        request.push("INCRBY", "leasehold:fence", 16);
        co_await connection_->async_exec(request, acquired);
        if (std::get<0>(acquired).value())
            throw std::runtime_error("the baseline did not acquire its lock");
        request.clear();
        request.push("EVALSHA", release_, 1, name, owner);
        co_await connection_->async_exec(request, released);
        if (std::get<0>(released).value() != 1)
            throw std::runtime_error("the baseline lost its lock");
        ++cycles;
    }
}

asio::awaitable<bool> raw_client::exists(std::string key)
{
    redis::request request;
    request.push("EXISTS", key);
    redis::response<std::int64_t> answer;
    co_await connection_->async_exec(request, answer);
    co_return std::get<0>(answer).value() == 1;
}

asio::awaitable<void> raw_client::flush_all()
{
    redis::request request;
    request.push("FLUSHALL");
    redis::response<redis::ignore_t> answer;
    co_await connection_->async_exec(request, answer);
}

asio::awaitable<std::map<std::string, std::string>> raw_client::info(std::string section)
{
    redis::request request;
    request.push("INFO", section);
    redis::response<std::string> text;
    co_await connection_->async_exec(request, text);
    std::istringstream lines(std::get<0>(text).value());
    std::map<std::string, std::string> fields;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        if (const std::size_t colon = line.find(':'); colon != std::string::npos)
            fields.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    co_return fields;
}

} // namespace leasehold::benchmark
