#include "sim/plan_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace leasehold::test::sim {
namespace {

using testing::step;

constexpr std::array<const char*, 6> verbs = {"lock",      "try once",           "try for",
                                              "with_lock", "stubborn with_lock", "lock and enter"};

constexpr std::array<const char*, 11> steps = {"acquire_sent", "acquire_ran", "acquire_answered",
                                               "renewal_sent", "renewal_ran", "renewal_answered",
                                               "release_sent", "release_ran", "release_answered",
                                               "connected",    "disconnected"};

constexpr std::array<const char*, 2> layouts = {"native", "redisson"};
constexpr std::array<const char*, 5> products = {"redis_6", "redis_7", "redis_8_4", "valkey_8",
                                                 "valkey_9"};

template <std::size_t N>
std::size_t index_of(const std::array<const char*, N>& all, std::string_view text)
{
    const auto found = std::find(all.begin(), all.end(), text);
    if (found == all.end())
        throw std::invalid_argument("unknown word in a plan: " + std::string(text));
    return static_cast<std::size_t>(found - all.begin());
}

fault_kind fault_kind_of(std::string_view text)
{
    for (std::size_t i = 0; i < static_cast<std::size_t>(fault_kind::count_); ++i)
        if (text == name_of(static_cast<fault_kind>(i)))
            return static_cast<fault_kind>(i);
    throw std::invalid_argument("unknown fault in a plan: " + std::string(text));
}

std::int64_t number(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("no number in a plan: " + std::string(text));
    return value;
}

/// The members of a line, `key=value`. A missing one keeps its default; the last may contain
/// spaces.
class members
{
public:
    members(std::istream& line, std::string_view last)
    {
        for (std::string word; line >> word;) {
            const auto equals = word.find('=');
            if (equals == std::string::npos)
                throw std::invalid_argument("no key=value in a plan: " + word);
            std::string value = word.substr(equals + 1);
            if (word.substr(0, equals) == last) {
                std::string rest;
                std::getline(line, rest);
                value += rest;
            }
            values_[word.substr(0, equals)] = value;
        }
    }

    /// Throws if a member was not read.
    void end() const
    {
        if (!values_.empty())
            throw std::invalid_argument("unknown member in a plan: " + values_.begin()->first);
    }

    bool take(const char* key, std::string& to)
    {
        const auto found = values_.find(key);
        if (found == values_.end())
            return false;
        to = found->second;
        values_.erase(found);
        return true;
    }

    template <class T>
    void take(const char* key, T& to)
    {
        std::string text;
        if (!take(key, text))
            return;
        if constexpr (std::is_same_v<T, milliseconds>)
            to = milliseconds(number(text));
        else if constexpr (std::is_same_v<T, bool>)
            to = number(text) != 0;
        else
            to = static_cast<T>(number(text));
    }

private:
    std::map<std::string, std::string> values_;
};

lock_options options_from(std::istream& line)
{
    lock_options o;
    members of(line, {});
    of.take("lease_time", o.lease_time);
    of.take("renew", o.renew);
    of.take("renew_interval", o.renew_interval);
    of.take("wait_limit", o.wait_limit);
    of.take("backoff_floor", o.backoff_floor);
    of.take("backoff_ceiling", o.backoff_ceiling);
    of.take("longest_hold", o.longest_hold);
    of.take("handoff_time", o.handoff_time);
    of.take("handoff_count", o.handoff_count);
    of.take("claim_time", o.claim_time);
    of.take("external_turns", o.external_share);
    of.take("replica_acks", o.replica_acks);
    of.take("dead_holder_grace", o.dead_holder_grace);
    of.end();
    return o;
}

external_client external_client_from(std::istream& line)
{
    external_client s{};
    members of(line, {});
    of.take("name", s.name);
    of.take("every", s.every);
    of.take("hold", s.hold);
    of.take("lease", s.lease);
    of.end();
    if (s.every <= milliseconds() || s.lease <= milliseconds())
        throw std::invalid_argument("an external client of a plan has no interval or no lease");
    return s;
}

testing::connecting connection_from(std::istream& line)
{
    testing::connecting how = usual_connection();
    members of(line, {});
    of.take("reconnect", how.limits.reconnect);
    of.take("shared", how.shared);
    of.take("wakeups", how.wakeups);
    of.take("acquires", how.acquires);
    of.end();
    return how;
}

operation operation_from(std::istream& line)
{
    operation op{};
    members of(line, "verb");
    of.take("at", op.at);
    of.take("client", op.client);
    of.take("name", op.name);
    of.take("options", op.options);
    of.take("hold", op.hold);
    of.take("limit", op.limit);
    of.take("other", op.other);
    of.take("other_options", op.other_options);
    of.take("let_go", op.let_go);
    of.take("own_executor", op.own_executor);
    of.take("ignores_loss", op.ignores_loss);
    std::string text;
    if (of.take("cancel_after", text))
        op.cancel_after = milliseconds(number(text));
    if (of.take("verb", text))
        op.what = static_cast<verb>(index_of(verbs, text));
    of.end();
    return op;
}

fault fault_from(std::istream& line)
{
    fault f{};
    members of(line, "kind");
    of.take("at", f.at);
    of.take("client", f.client);
    of.take("name", f.name);
    of.take("for", f.how_long);
    of.take("amount", f.amount);
    of.take("when_closing", f.when_closing);
    of.take("together", f.together);
    std::string text;
    if (of.take("member", text))
        f.member = static_cast<std::size_t>(number(text));
    if (of.take("step", text))
        f.trigger = static_cast<step>(index_of(steps, text));
    if (of.take("kind", text))
        f.what = fault_kind_of(text);
    of.end();
    return f;
}

std::ostream& operator<<(std::ostream& out, const lock_options& o)
{
    const lock_options usual;
    out << "options lease_time=" << o.lease_time.count() << " renew=" << o.renew;
    if (o.renew_interval != usual.renew_interval)
        out << " renew_interval=" << o.renew_interval.count();
    if (o.wait_limit != usual.wait_limit)
        out << " wait_limit=" << o.wait_limit.count();
    out << " backoff_floor=" << o.backoff_floor.count()
        << " backoff_ceiling=" << o.backoff_ceiling.count();
    if (o.longest_hold != usual.longest_hold)
        out << " longest_hold=" << o.longest_hold.count();
    out << " handoff_time=" << o.handoff_time.count() << " handoff_count=" << o.handoff_count;
    if (o.claim_time != usual.claim_time)
        out << " claim_time=" << o.claim_time.count();
    if (o.external_share != 0)
        out << " external_turns=" << o.external_share;
    if (o.replica_acks != 0)
        out << " replica_acks=" << o.replica_acks;
    if (o.dead_holder_grace.count() != 0)
        out << " dead_holder_grace=" << o.dead_holder_grace.count();
    return out;
}

std::ostream& operator<<(std::ostream& out, const testing::connecting& how)
{
    out << "connection reconnect=" << how.limits.reconnect.count();
    if (how.shared)
        out << " shared=1 wakeups=" << how.wakeups;
    if (how.acquires != 0)
        out << " acquires=" << how.acquires;
    return out;
}

std::ostream& operator<<(std::ostream& out, const external_client& s)
{
    return out << "external name=" << s.name << " every=" << s.every.count()
               << " hold=" << s.hold.count() << " lease=" << s.lease.count();
}

std::ostream& operator<<(std::ostream& out, const operation& op)
{
    out << "operation at=" << op.at.count() << " client=" << op.client << " name=" << op.name;
    if (op.options != 0)
        out << " options=" << op.options;
    out << " hold=" << op.hold.count();
    if (op.what == verb::try_for)
        out << " limit=" << op.limit.count();
    if (op.what == verb::reenter)
        out << " other=" << op.other << " other_options=" << op.other_options;
    if (op.cancel_after)
        out << " cancel_after=" << op.cancel_after->count();
    if (op.let_go)
        out << " let_go=1";
    if (op.own_executor)
        out << " own_executor=1";
    if (op.ignores_loss)
        out << " ignores_loss=1";
    return out << " verb=" << verbs[static_cast<std::size_t>(op.what)];
}

std::ostream& operator<<(std::ostream& out, const fault& f)
{
    out << "fault at=" << f.at.count() << " client=" << f.client << " name=" << f.name
        << " for=" << f.how_long.count();
    if (f.amount != 0)
        out << " amount=" << f.amount;
    if (f.when_closing)
        out << " when_closing=1";
    if (f.member)
        out << " member=" << *f.member;
    if (f.together)
        out << " together=1";
    if (f.trigger)
        out << " step=" << steps[static_cast<std::size_t>(*f.trigger)];
    return out << " kind=" << name_of(f.what);
}

} // namespace

std::string to_text(const plan& scenario)
{
    std::ostringstream out;
    out << "seed " << scenario.seed;
    if (scenario.is_native()) {
        out << "\nlayout native\nserver " << products[static_cast<std::size_t>(scenario.product)];
    }
    if (!scenario.may_kill)
        out << "\nmay_kill 0";
    if (scenario.is_quorum())
        out << "\nmembers " << scenario.members << "\ngrants " << scenario.grants;
    if (scenario.is_cluster()) {
        if (!scenario.is_native())
            out << "\nserver " << products[static_cast<std::size_t>(scenario.product)];
        out << "\nshards " << scenario.shards << "\nreplicas " << scenario.replicas;
    }
    if (scenario.full_coverage)
        out << "\nfull_coverage 1";
    if (scenario.one_slot)
        out << "\none_slot 1";
    if (scenario.ends_together)
        out << "\nends_together 1";
    if (scenario.replicated)
        out << "\nreplicated 1";
    out << "\nclients " << scenario.clients << "\nnames " << scenario.names << "\nheals "
        << scenario.heals.count() << "\nends " << scenario.ends.count() << '\n';
    for (const lock_options& each : scenario.options)
        out << each << '\n';
    for (const testing::connecting& each : scenario.connections)
        out << each << '\n';
    for (const operation& each : scenario.operations)
        out << each << '\n';
    for (const fault& each : scenario.faults)
        out << each << '\n';
    for (const external_client& each : scenario.external_clients)
        out << each << '\n';
    return out.str();
}

plan plan_from_text(std::istream& text)
{
    plan p;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line.front() == '#')
            continue;
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "options") {
            p.options.push_back(options_from(words));
            continue;
        }
        if (kind == "connection") {
            p.connections.push_back(connection_from(words));
            continue;
        }
        if (kind == "operation") {
            p.operations.push_back(operation_from(words));
            continue;
        }
        if (kind == "fault") {
            p.faults.push_back(fault_from(words));
            continue;
        }
        if (kind == "external") {
            p.external_clients.push_back(external_client_from(words));
            continue;
        }
        std::string value;
        words >> value;
        if (kind == "seed")
            p.seed = std::stoull(value);
        else if (kind == "layout")
            p.layout = index_of(layouts, value) == 0 ? redis_config::key_layout::native
                                                     : redis_config::key_layout::redisson;
        else if (kind == "server")
            p.product = static_cast<testing::server::product>(index_of(products, value));
        else if (kind == "may_kill")
            p.may_kill = number(value) != 0;
        else if (kind == "members")
            p.members = static_cast<std::size_t>(number(value));
        else if (kind == "grants")
            p.grants = static_cast<std::size_t>(number(value));
        else if (kind == "shards")
            p.shards = static_cast<std::size_t>(number(value));
        else if (kind == "replicas")
            p.replicas = static_cast<std::size_t>(number(value));
        else if (kind == "full_coverage")
            p.full_coverage = number(value) != 0;
        else if (kind == "one_slot")
            p.one_slot = number(value) != 0;
        else if (kind == "ends_together")
            p.ends_together = number(value) != 0;
        else if (kind == "replicated")
            p.replicated = number(value) != 0;
        else if (kind == "clients")
            p.clients = static_cast<std::size_t>(number(value));
        else if (kind == "names")
            p.names = static_cast<std::size_t>(number(value));
        else if (kind == "heals")
            p.heals = milliseconds(number(value));
        else if (kind == "ends")
            p.ends = milliseconds(number(value));
        else
            throw std::invalid_argument("unknown line in a plan: " + line);
    }
    if (p.connections.empty())
        p.connections.assign(p.clients, usual_connection());
    if (p.connections.size() < p.clients)
        throw std::invalid_argument("a client of a plan has no connection");
    const auto known = [&](std::size_t options) { return options < p.options.size(); };
    for (const operation& each : p.operations)
        if (each.client >= p.clients || each.other >= p.clients || each.name >= p.names ||
            !known(each.options) || !known(each.other_options))
            throw std::invalid_argument("an operation of a plan has no client, name or options");
    return p;
}

} // namespace leasehold::test::sim
