#ifndef LEASEHOLD_TEST_CHAOS_CLIENT_FLEET_HPP
#define LEASEHOLD_TEST_CHAOS_CLIENT_FLEET_HPP

#include "chaos/deployment.hpp"
#include "chaos/history.hpp"
#include "support/directory.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// The settings of all clients.
struct crew_settings
{
    std::uint64_t seed = 0;
    std::size_t clients = 0;
    std::vector<std::string> names{};
    std::chrono::milliseconds lease{};
    int workers = 0;
    bool fenced = true;
    int pauses = 0; ///< Pauses of the first client.
    std::uint32_t replica_acks = 0;
    /// Called for the start of a client at a place. The result lives as long as the start.
    std::function<std::shared_ptr<void>(std::size_t place)> enter{};
    bool promises = false; ///< Clients send heartbeats, and `lease` is the grace.
};

/// Client processes and their histories. Each client has its own path to the servers. When a client
/// is killed, the next one gets its place and its path. The destructor ends all of them.
class client_fleet
{
public:
    client_fleet(const crew_settings& how, deployment& servers, const redis_server& store);

    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] const std::string& name(std::size_t place) const
    {
        return places_[place]->client->written.client;
    }
    /// All proxies on its path to the servers.
    [[nodiscard]] const std::vector<std::unique_ptr<fault_proxy>>& proxies(std::size_t place) const
    {
        return places_[place]->way.proxies;
    }

    /// Starts a new client at the place of a killed one.
    void start(std::size_t place);
    void kill(std::size_t place);
    void pause(std::size_t place);
    void resume(std::size_t place);

    /// Reads the new history lines, and lets the proxies forget the requests that they saw.
    void read_on();
    [[nodiscard]] const history& written(std::size_t place) const
    {
        return places_[place]->client->written;
    }
    [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }
    [[nodiscard]] std::uint64_t losses() const noexcept { return losses_; }
    bool running(std::size_t place); ///< Whether a client exists there and has not ended.

    void command(std::size_t place, const std::string& line);
    /// Whether the client has printed the line by now.
    bool has_said(std::size_t place, const std::string& line);
    /// The rest of a printed line with this beginning; empty: there is none.
    std::string said_after(std::size_t place, const std::string& beginning);
    /// Waits until the client ends. A client that does not end is killed, and counts as failed.
    void wait(std::size_t place, std::chrono::milliseconds limit);

    /// The complete histories, after the end of all clients.
    std::vector<history> take();

private:
    struct member
    {
        member(const std::vector<std::string>& command, const std::string& file, std::string name)
            : running(command), from(file), path(file)
        {
            written.client = std::move(name);
        }
        process running;
        std::ifstream from;
        std::string path;
        history written;
        std::vector<std::string> said;
        bool gone = false;
    };

    struct place_for_one
    {
        client_way way;
        std::unique_ptr<member> client;
    };

    void listen(member& to);
    void read(member& of);

    const crew_settings set_;
    const std::string register_socket_;
    temporary_directory directory_;
    std::vector<std::unique_ptr<place_for_one>> places_;
    std::vector<history> finished_;
    std::size_t started_ = 0;
    std::uint64_t grants_ = 0;
    std::uint64_t losses_ = 0;
};

} // namespace leasehold::test::chaos

#endif
