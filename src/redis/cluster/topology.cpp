#include "redis/cluster/topology.hpp"

#include "redis/config/address.hpp"

#include <algorithm>
#include <cstdint>

namespace leasehold::redis_store::cluster {
namespace {

using value = reply_tree::value;

/// The text of a server that does not know its own address, or must not report it.
std::string_view host_in(std::string_view text) noexcept
{
    return text == "?" ? std::string_view() : text;
}

std::optional<redis_config::address> read_address(std::string_view host, std::int64_t port,
                                                  const redis_config::address& from,
                                                  const address_reading& reached)
{
    if (port <= 0 || port > 65535)
        return std::nullopt;
    return reached({std::string(host_in(host)), static_cast<std::uint16_t>(port)}, from);
}

std::size_t place_of(std::vector<redis_config::address>& all, const redis_config::address& one)
{
    const auto found = std::find(all.begin(), all.end(), one);
    if (found != all.end())
        return static_cast<std::size_t>(found - all.begin());
    all.push_back(one);
    return all.size() - 1;
}

void add(topology& to, std::int64_t first, std::int64_t last, const redis_config::address& master)
{
    if (first < 0 || last < first || last >= static_cast<std::int64_t>(slot_count))
        return;
    to.ranges.push_back({static_cast<slot_number>(first), static_cast<slot_number>(last),
                         place_of(to.masters, master)});
}

std::optional<topology> of_use(topology read)
{
    if (read.ranges.empty())
        return std::nullopt;
    return read;
}

std::optional<redis_config::address> address_of(const value& node,
                                                const redis_config::address& from,
                                                const address_reading& reached)
{
    const auto number_of = [&](std::string_view key) -> std::int64_t {
        const std::vector<value> all = node.items();
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            if (all[i].text() == key)
                return all[i + 1].number();
        }
        return -1;
    };
    // The preferred address of a node is its endpoint, which may be a name.
    std::string_view host = host_in(node.text_of("endpoint"));
    if (host.empty())
        host = node.text_of("ip");
    // A node without TLS is behind a proxy with TLS.
    std::int64_t port = reached.tls() ? number_of("tls-port") : 0;
    if (port <= 0)
        port = number_of("port");
    return read_address(host, port, from, reached);
}

} // namespace

redis_config::address address_reading::operator()(const redis_config::address& announced,
                                                  const redis_config::address& from) const
{
    redis_config::address result = announced;
    if (result.host.empty())
        result.host = from.host;
    return redis_store::reached_address(*settings_, std::move(result));
}

std::optional<topology> read_shards(const reply_tree& answer, const redis_config::address& from,
                                    const address_reading& reached)
{
    topology result;
    for (const value& shard : answer.root().items()) {
        const std::vector<value> slots = shard.items_of("slots");
        std::optional<redis_config::address> master;
        bool serves = false;
        for (const value& node : shard.items_of("nodes")) {
            const auto at = address_of(node, from, reached);
            if (!at)
                continue;
            const bool online = node.text_of("health") == "online";
            if (node.text_of("role") != "master") {
                if (online)
                    result.others.push_back(*at);
            }
            else if (!master || (online && !serves)) {
                master = at;
                serves = online;
            }
        }
        for (std::size_t i = 0; master && i + 1 < slots.size(); i += 2)
            add(result, slots[i].number(), slots[i + 1].number(), *master);
    }
    return of_use(std::move(result));
}

std::optional<topology> read_slots(const reply_tree& answer, const redis_config::address& from,
                                   const address_reading& reached)
{
    topology result;
    for (const value& range : answer.root().items()) {
        const std::vector<value> parts = range.items(); // first, last, the master, its replicas
        for (std::size_t i = 2; i < parts.size(); ++i) {
            const std::vector<value> node = parts[i].items();
            if (node.size() < 2)
                continue;
            const auto at = read_address(node[0].text(), node[1].number(), from, reached);
            if (!at)
                continue;
            if (i == 2)
                add(result, parts[0].number(), parts[1].number(), *at);
            else if (std::find(result.others.begin(), result.others.end(), *at) ==
                     result.others.end())
                result.others.push_back(*at);
        }
    }
    return of_use(std::move(result));
}

} // namespace leasehold::redis_store::cluster
