#ifndef LEASEHOLD_TEST_SUPPORT_QUORUM_DEPLOYMENT_HPP
#define LEASEHOLD_TEST_SUPPORT_QUORUM_DEPLOYMENT_HPP

#include "support/redis_server.hpp"

#include <leasehold/redis.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// Independent servers, on separate ports of 127.0.0.1.
class quorum_deployment
{
public:
    explicit quorum_deployment(std::size_t members = 3, std::vector<std::string> options = {})
    {
        for (std::size_t i = 0; i < members; ++i)
            servers_.push_back(std::make_unique<redis_server>(options, redis_setup{.tcp = true}));
    }

    /// `redlock://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3`
    [[nodiscard]] std::string url() const
    {
        std::string all = "redlock://";
        for (const auto& each : servers_)
            all += (&each == &servers_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
                   std::to_string(each->port());
        return all;
    }

    /// Settings that reconnect fast.
    [[nodiscard]] redis_config settings() const
    {
        redis_config made(url());
        made.reconnect = std::chrono::milliseconds(5);
        return made;
    }

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
    redis_server& operator[](std::size_t number) { return *servers_.at(number); }

    /// Sends the same command to all servers.
    void command(const resp_client::words& words)
    {
        for (const auto& each : servers_)
            each->connect().command(words);
    }

    /// Whether the server grants locks: it has become a member since its start, and its silence has
    /// ended.
    [[nodiscard]] bool is_member(std::size_t number)
    {
        resp_client look = (*this)[number].connect();
        const resp_value until = look.command({"HGET", "leasehold:quorum", "until"});
        const resp_value run = look.command({"HGET", "leasehold:quorum", "run"});
        const resp_value time = look.command({"TIME"});
        return !until.text.empty() && look.info("server")["run_id"] == run.text &&
               std::stoll(until.text) <= std::stoll(time.items.at(0).text) * 1000;
    }

    /// The number of servers that have a key of that name.
    [[nodiscard]] std::size_t count(const std::string& key)
    {
        std::size_t found = 0;
        for (const auto& each : servers_)
            found += each->running() && each->connect().integer({"EXISTS", key}) == 1 ? 1 : 0;
        return found;
    }

private:
    std::vector<std::unique_ptr<redis_server>> servers_;
};

} // namespace leasehold::test

#endif
