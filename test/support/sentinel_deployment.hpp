#ifndef LEASEHOLD_TEST_SUPPORT_SENTINEL_DEPLOYMENT_HPP
#define LEASEHOLD_TEST_SUPPORT_SENTINEL_DEPLOYMENT_HPP

#include "support/redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A master, two replicas and three Sentinels that watch them, all on separate ports of 127.0.0.1.
/// Takes a few seconds to start. A failover takes one or two seconds after the master is lost.
class sentinel_deployment
{
public:
    static constexpr std::size_t server_count = 3;
    static constexpr std::size_t sentinel_count = 3;
    static constexpr std::chrono::milliseconds limit = std::chrono::seconds(
        60); ///< For each wait, then `std::runtime_error`.

    /// Returns when the replicas follow, and each Sentinel knows the replicas and the other
    /// Sentinels.
    explicit sentinel_deployment(std::vector<std::string> server_options = {});
    ~sentinel_deployment();
    sentinel_deployment(const sentinel_deployment&) = delete;
    sentinel_deployment& operator=(const sentinel_deployment&) = delete;

    std::string url() const; ///< `redis+sentinel://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3/name`
    static std::string name() { return "leasehold"; }

    /// The number of the master, as of the last `wait_for_new_master`.
    std::size_t master_index() const noexcept { return master_; }
    redis_server& master() { return server(master_); }
    redis_server& server(std::size_t index) { return *servers_.at(index); }
    resp_client connect_to_sentinel(std::size_t index) const;
    std::uint16_t sentinel_port(std::size_t index) const;

    void kill_master() { master().kill(); }
    void pause_master() { master().pause(); }
    /// Disconnects the master from replicas, Sentinels and new connections. Existing connections of
    /// other clients remain and are served, so their writes are lost with the failover.
    void isolate_master();
    /// Makes an isolated master reachable again.
    void end_isolation();
    /// Lets Sentinel fail over while the master is available, and waits as below: the master
    /// becomes a replica, and Sentinel makes it close its clients' connections. (For a demotion
    /// that keeps them open, send REPLICAOF to the server.)
    void switch_master();

    /// Waits until every running Sentinel names another master than the last one and that server
    /// agrees. `master()` then returns it.
    void wait_for_new_master();

    void kill_sentinel(std::size_t index);
    void pause_sentinel(std::size_t index); ///< It accepts connections and does not answer.
    void resume_sentinel(std::size_t index);
    void start_sentinel(std::size_t index); ///< Starts it again, with its saved state.

    /// Waits until all Sentinels name one server that the other two follow. `master()` then returns
    /// it.
    void wait_until_whole();

private:
    struct sentinel;

    bool finds_new_master();
    bool is_whole();
    void poll(const std::function<bool()>& reached, const std::string& awaited) const;

    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<sentinel>> sentinels_;
    std::size_t master_ = 0;
    /// A connection to the isolated master, which accepts no other.
    std::unique_ptr<resp_client> isolated_;
};

} // namespace leasehold::test

#endif
