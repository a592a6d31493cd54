#include "servers.hpp"

#include "redis/cluster/topology.hpp"
#include "redis/connection/sentinel_patience.hpp"
#include "redis/protocol/redirection.hpp"
#include "redis/protocol/slot.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::tool {
namespace {

namespace cluster = redis_store::cluster;
using redirect = redis_store::redirection::kind;

constexpr std::uint16_t no_server = 0xffff;
constexpr int most_redirections = 16;

/// Queries one server after the other until one answers.
template <class Ask>
auto first_that_answers(const std::vector<redis_config::address>& all, Ask ask)
{
    std::string failures;
    for (const redis_config::address& each : all) {
        try {
            return ask(each);
        }
        catch (const unreachable& failed) {
            failures.append(failures.empty() ? "" : "; ").append(failed.what());
        }
        catch (const refused& failed) {
            failures.append(failures.empty() ? "" : "; ").append(failed.what());
        }
    }
    throw unreachable(failures);
}

redis_config::address read_address(const resp_value& host, const resp_value& port)
{
    const auto number = port.to_number().value_or(0);
    if (host.is_error() || number <= 0 || number > 65535)
        throw refused("a reply contains no address");
    return {host.text == "?" ? std::string() : host.text, static_cast<std::uint16_t>(number)};
}

} // namespace

servers::servers(boost::asio::io_context& context, redis_config where)
    : context_(context), where_(std::move(where))
{
    inspect_again();
}

void servers::inspect_again()
{
    std::vector<server> found;
    for (const redis_config::address& at : find_masters()) {
        const std::string name = where_.unix_socket.empty() ? name_of(at) : where_.unix_socket;
        found.push_back({at, name});
        for (server& known : all_) {
            // A master that Sentinels report again may be another process.
            if (is_cluster() && known.at == at)
                found.back().connection = std::move(known.connection);
        }
    }
    all_ = std::move(found);
}

std::vector<redis_config::address> servers::find_masters()
{
    switch (where_.kind) {
    case redis_config::deployment::cluster: return find_in_cluster();
    case redis_config::deployment::sentinel: return {find_by_sentinels()};
    default: return where_.addresses;
    }
}

redis_config::address servers::find_by_sentinels()
{
    connection_settings settings = sentinel_settings_of(where_);
    const auto ask = [&](const redis_config::address& at) {
        server_connection sentinel(context_, settings, at);
        const resp_value answer = sentinel.demand(
            {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", where_.master});
        if (answer.items.size() != 2)
            throw refused(sentinel.name() + " knows no master '" + where_.master + "'");
        return read_address(answer.items[0], answer.items[1]);
    };
    // A Sentinel that hangs delays the command only if no other one names the master.
    const auto patience = redis_store::sentinel_patience(where_.timeout, where_.addresses.size());
    if (patience.current() < where_.timeout) {
        settings.where.timeout = patience.current();
        try {
            return first_that_answers(where_.addresses, ask);
        }
        catch (const unreachable&) {
            settings.where.timeout = where_.timeout;
        }
    }
    return first_that_answers(where_.addresses, ask);
}

std::vector<redis_config::address> servers::find_in_cluster()
{
    std::vector<redis_config::address> nodes;
    for (const server& each : all_)
        nodes.push_back(each.at);
    for (const redis_config::address& each : where_.addresses) {
        if (std::find(nodes.begin(), nodes.end(), each) == nodes.end())
            nodes.push_back(each);
    }
    std::vector<redis_config::address> masters;
    std::vector<std::uint16_t> slots;
    first_that_answers(nodes, [&](const redis_config::address& at) {
        server_connection node(context_, settings_of(where_), at);
        const resp_value answer = node.demand({"CLUSTER", "SLOTS"});
        masters.clear();
        slots.assign(redis_store::slot_count, no_server);
        for (const resp_value& range : answer.items) {
            if (range.items.size() < 3 || range.items[2].items.size() < 2)
                continue;
            const resp_value& master = range.items[2];
            const redis_config::address reached = cluster::address_reading(where_)(
                read_address(master.items[0], master.items[1]), at);
            auto known = std::find(masters.begin(), masters.end(), reached);
            if (known == masters.end())
                known = masters.insert(masters.end(), reached);
            const std::int64_t first = std::max<std::int64_t>(range.items[0].number, 0);
            const std::int64_t last = std::min<std::int64_t>(
                range.items[1].number, static_cast<std::int64_t>(redis_store::slot_count) - 1);
            for (std::int64_t slot = first; slot <= last; ++slot)
                slots[static_cast<std::size_t>(slot)] = static_cast<std::uint16_t>(known -
                                                                                   masters.begin());
        }
        if (masters.empty())
            throw refused(node.name() + " knows no master that serves slots");
        return true;
    });
    slots_ = std::move(slots);
    return masters;
}

server_connection& servers::connection(std::size_t place)
{
    server& found = all_[place];
    if (!found.connection || !found.connection->is_open())
        found.connection.emplace(context_, settings_of(where_), found.at, where_.unix_socket);
    return *found.connection;
}

std::size_t servers::place_of(std::string_view key) const
{
    if (!is_cluster())
        return 0;
    const redis_store::slot_number slot = redis_store::slot_of(key);
    if (slots_[slot] == no_server)
        throw refused("no node of the cluster serves slot " + std::to_string(slot) +
                      " of the key '" + std::string(key) + "'");
    return slots_[slot];
}

std::size_t servers::place_at(const redis_config::address& at)
{
    for (std::size_t place = 0; place < all_.size(); ++place) {
        if (all_[place].at == at)
            return place;
    }
    all_.push_back({at, name_of(at)});
    return all_.size() - 1;
}

resp_value servers::follow(const keyed_command& command, std::size_t place, resp_value answer)
{
    for (int tries = 0; is_cluster() && tries < most_redirections && answer.is_error(); ++tries) {
        const redis_store::redirection to = redis_store::read_redirection(answer.text);
        switch (to.what) {
        case redirect::none: return answer;
        case redirect::moved:
            place = place_at(cluster::address_reading(where_)(to.where, all_[place].at));
            slots_[to.slot] = static_cast<std::uint16_t>(place);
            answer = connection(place).ask(command.words);
            break;
        case redirect::ask: {
            const std::size_t target = place_at(
                cluster::address_reading(where_)(to.where, all_[place].at));
            answer = std::move(connection(target).ask_all({{"ASKING"}, command.words}).back());
            break;
        }
        case redirect::try_again:
        case redirect::down: {
            // The server does not report the end of this state.
            boost::asio::steady_timer pause(context_, std::chrono::milliseconds(100));
            pause.wait();
            answer = connection(place).ask(command.words);
            break;
        }
        }
    }
    return answer;
}

std::vector<resp_value> servers::ask_all(const std::vector<keyed_command>& commands)
{
    std::vector<std::vector<std::size_t>> by_server(all_.size());
    for (std::size_t i = 0; i < commands.size(); ++i)
        by_server[place_of(commands[i].key)].push_back(i);

    std::vector<resp_value> answers(commands.size());
    for (std::size_t place = 0; place < by_server.size(); ++place) {
        if (by_server[place].empty())
            continue;
        std::vector<command_words> words;
        for (const std::size_t i : by_server[place])
            words.push_back(commands[i].words);
        std::vector<resp_value> got = connection(place).ask_all(words);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const std::size_t command = by_server[place][i];
            answers[command] = follow(commands[command], place, std::move(got[i]));
        }
    }
    return answers;
}

resp_value servers::ask(const std::string& key, const command_words& words)
{
    return std::move(ask_all({{key, words}}).front());
}

} // namespace leasehold::tool
