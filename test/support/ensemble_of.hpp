#ifndef LEASEHOLD_TEST_SUPPORT_ENSEMBLE_OF_HPP
#define LEASEHOLD_TEST_SUPPORT_ENSEMBLE_OF_HPP

#include "support/fault_proxy.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace leasehold::test {

/// Three servers that reach each other by proxies.
template <class Server>
class ensemble_of
{
public:
    static constexpr std::size_t size = 3;

    [[nodiscard]] Server& at(std::size_t i) { return *servers_[i]; }

    /// This server and the others receive nothing from each other until `heal`.
    void cut_off(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.stall(); });
    }
    void heal(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.forward(); });
    }

    /// Waits until each server serves clients, and so has a leader.
    void wait_until_ready()
    {
        for (const auto& each : servers_)
            each->wait_until_ready();
    }

protected:
    ensemble_of() = default;
    ~ensemble_of() = default;

    /// Calls `function(from, to)` for each two servers, in both directions.
    template <class Function>
    static void each_pair(Function function)
    {
        for (std::size_t from = 0; from < size; ++from) {
            for (std::size_t to = 0; to < size; ++to) {
                if (from != to)
                    function(from, to);
            }
        }
    }

    std::array<std::unique_ptr<Server>, size> servers_;
    /// The proxies by which the first server reaches the second.
    std::array<std::array<std::vector<std::unique_ptr<fault_proxy>>, size>, size> links_;

private:
    template <class Function>
    void each_link_of(std::size_t server, Function function)
    {
        each_pair([&](std::size_t from, std::size_t to) {
            if (from != server && to != server)
                return;
            for (const auto& link : links_[from][to])
                function(*link);
        });
    }
};

} // namespace leasehold::test

#endif
