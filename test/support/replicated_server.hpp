#ifndef LEASEHOLD_TEST_SUPPORT_REPLICATED_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_REPLICATED_SERVER_HPP

#include "support/client_thread.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A server and its replicas, each of which follows when the constructor returns.
class replicated_server
{
public:
    explicit replicated_server(std::size_t replicas)
    {
        for (std::size_t i = 0; i < replicas; ++i)
            replicas_.push_back(std::make_unique<redis_server>(
                std::vector<std::string>{"--replicaof", "127.0.0.1",
                                         std::to_string(master_.port())},
                redis_setup{.tcp = true}));
        wait_for(replicas);
    }

    [[nodiscard]] redis_server& master() noexcept { return master_; }
    [[nodiscard]] redis_server& replica(std::size_t index) { return *replicas_.at(index); }

    /// Returns when that many replicas follow.
    void wait_for(std::size_t replicas)
    {
        wait_until([&] {
            resp_client asked = master_.connect();
            asked.done({"SET", "marker", "1"});
            return asked.integer({"WAIT", std::to_string(replicas), "100"}) >=
                   static_cast<std::int64_t>(replicas);
        });
    }

private:
    redis_server master_{{"--repl-diskless-sync-delay", "0"}, {.tcp = true}};
    std::vector<std::unique_ptr<redis_server>> replicas_;
};

} // namespace leasehold::test

#endif
