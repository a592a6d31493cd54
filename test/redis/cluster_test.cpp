// Locks in a cluster of real servers, when slots move and masters are lost.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/child.hpp"
#include "support/cluster_deployment.hpp"
#include "support/directory.hpp"
#include "support/documented_rights.hpp"
#include "support/port.hpp"
#include "support/store_contract.hpp"

#include "redis/protocol/slot.hpp"

#include <leasehold/redis.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// One deployment for all tests of the program. Each test leaves it complete.
cluster_deployment& deployment()
{
    static cluster_deployment only;
    return only;
}

class cluster_lab : public store_lab
{
public:
    explicit cluster_lab(redis_config::key_layout keys) : keys_(keys) { deployment().clear(); }

    std::shared_ptr<store> make_store() override
    {
        redis_config settings(deployment().url());
        settings.layout = keys_;
        settings.reconnect = 5ms;
        return make_redis_store(settings);
    }
    void erase(std::string_view name) override
    {
        const std::string key(name);
        deployment().connect_to(key).done({"DEL", key});
    }
    void clear() override { deployment().clear(); }

private:
    const redis_config::key_layout keys_;
};

/// In a cluster, the layout `redisson` rejects some names.
bool add_contract(redis_config::key_layout keys)
{
    for (const testing::contract_case& each : testing::store_contract()) {
        if (keys == redis_config::key_layout::redisson &&
            each.name == std::string_view("any_bytes_make_a_name"))
            continue;
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [keys, run = each.run] {
                cluster_lab lab(keys);
                run(lab);
            },
            "contract_" + std::string(each.name), __FILE__, std::size_t{__LINE__}));
    }
    return true;
}

} // namespace

BOOST_AUTO_TEST_SUITE(native)
const bool added = add_contract(redis_config::key_layout::native);
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(redisson)
const bool added = add_contract(redis_config::key_layout::redisson);
BOOST_AUTO_TEST_SUITE_END()

namespace {

/// A client of the cluster, connected by the layout of this run.
redis_config in_cluster()
{
    return at(deployment().url());
}

/// Leases that outlive the faults of the cluster, renewed often.
lock_options patient()
{
    lock_options options = long_leases();
    options.wait_limit = 60s;
    return options;
}

/// The node to which the slot of a name moves next.
std::size_t next_to(std::size_t index)
{
    return (index + 1) % cluster_deployment::master_count;
}

std::string holder_in_cluster(const std::string& name)
{
    resp_client there = deployment().connect_to(name);
    return holder_of(there, name);
}

/// The holder renews, confirmed by the node that now serves the name.
void goes_on(client_thread& of, const lease& held)
{
    of.seen().clear();
    of.seen().wait_for(kind::renewed, 2, 60s);
    BOOST_TEST(held.valid());
}

void wait_until_queued(const std::string& name)
{
    // The node that serves the name knows the waiter, and notifies it.
    wait_until([&] {
        resp_client there = deployment().connect_to(name);
        const auto all = there.strings({"HVALS", "leasehold:waiters:{" + name + "}"});
        return !all.empty() && all.front().ends_with('1');
    });
}

struct fresh_cluster
{
    fresh_cluster() { deployment().clear(); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(real_cluster, fresh_cluster)

BOOST_AUTO_TEST_CASE(names_of_all_masters_are_locked_renewed_and_released)
{
    client_thread locks(in_cluster());
    client_thread others(in_cluster());
    std::vector<lease> held;
    for (int i = 0; i < 30; ++i) {
        const std::string name = "name:" + std::to_string(i);
        held.push_back(take(locks, long_leases(), name));
        BOOST_TEST(holder_in_cluster(name) == held.back().share_owner().id());
        BOOST_TEST((others.try_lock(name, long_leases()).code == errc::held));
    }
    // Names of different slots in one round of renewals.
    locks.seen().clear();
    locks.seen().wait_for(kind::renewed, 90, 30s);
    BOOST_TEST(locks.stats().renewals_failed == 0u);
    for (lease& each : held) {
        BOOST_TEST(each.valid());
        BOOST_TEST(!locks.release(std::move(each)));
    }
    for (int i = 0; i < 30; ++i)
        BOOST_TEST(holder_in_cluster("name:" + std::to_string(i)).empty());
}

BOOST_AUTO_TEST_CASE(release_wakes_the_waiter_at_any_master)
{
    client_thread holder(in_cluster());
    client_thread other(in_cluster());
    for (std::size_t node = 0; node < cluster_deployment::master_count; ++node) {
        const std::string name = deployment().name_at(
            deployment().master_of(deployment().name_at(node)));
        lease held = take(holder, long_leases(), name);
        auto waiting = other.start_lock(name, patient());
        wait_until_queued(name);
        const auto from = std::chrono::steady_clock::now();
        lease next = hand_off(holder, std::move(held), waiting);
        BOOST_TEST((std::chrono::steady_clock::now() - from < 2s));
        BOOST_TEST(!other.release(std::move(next)));
    }
}

// Connections are made only to masters that get requests.
BOOST_AUTO_TEST_CASE(one_name_connects_to_one_master)
{
    for (std::size_t i = 0; i < cluster_deployment::master_count; ++i)
        deployment().connect(i).reset_calls();
    client_thread locks(in_cluster());
    const std::string name = deployment().name_at(0);
    lease held = take(locks, long_leases(), name);
    for (std::size_t i = 0; i < cluster_deployment::master_count; ++i)
        BOOST_TEST((deployment().connect(i).calls("evalsha") == 0) == (i != 0));
    BOOST_TEST(!locks.release(std::move(held)));
}

// R3, row 21: leases and waiters continue wherever their slot moves.
BOOST_AUTO_TEST_CASE(row_21_lock_and_waiter_survive_a_moving_slot)
{
    client_thread holder(in_cluster());
    client_thread other(in_cluster());
    lease held = take(holder, patient());
    const std::uint64_t fence = held.fence();
    auto waiting = start_waiting(other, patient());
    wait_until_queued(stock);
    const std::size_t to = next_to(deployment().master_of(stock));
    deployment().move(stock, to);
    BOOST_TEST(deployment().master_of(stock) == to);
    goes_on(holder, held);
    BOOST_TEST(held.fence() == fence);
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    BOOST_TEST(holder_in_cluster(stock) == held.share_owner().id());

    lease next = hand_off(holder, std::move(held), waiting);
    BOOST_TEST(!other.release(std::move(next)));
    BOOST_TEST(holder_in_cluster(stock).empty());
    BOOST_TEST(acquire_and_release(holder, fence) > fence);
}

// W5: the channel is subscribed to at the new master before a release there.
BOOST_AUTO_TEST_CASE(W5_waiter_subscribes_at_the_new_master)
{
    client_thread holder(in_cluster());
    client_thread other(in_cluster());
    lease held = take(holder, patient());
    auto waiting = start_waiting(other, patient());
    wait_until_queued(stock);
    const std::size_t from = deployment().master_of(stock);
    deployment().move(stock, next_to(from));
    const std::string tag = [] {
        std::string text;
        redis_store::append_short_tag(cluster_deployment::slot_of(stock), text);
        return text;
    }();
    const std::string pattern = "leasehold:turn:{" + tag + "}:*";
    const auto heard_at = [&](std::size_t node) {
        return deployment().connect(node).strings({"PUBSUB", "SHARDCHANNELS", pattern}).size();
    };
    wait_until([&] { return heard_at(next_to(from)) >= 1; });
    BOOST_TEST(heard_at(from) == 0u);
    wait_until_queued(stock);
    const auto released = std::chrono::steady_clock::now();
    lease next = hand_off(holder, std::move(held), waiting);
    BOOST_TEST((std::chrono::steady_clock::now() - released < 2s));
    BOOST_TEST(!other.release(std::move(next)));
}

// Some keys have migrated and some have not. A request that needs keys of both nodes is not served.
// A request that needs one key is.
BOOST_AUTO_TEST_CASE(row_21_locks_are_renewed_while_their_slot_migrates)
{
    client_thread holder(in_cluster());
    client_thread other(in_cluster());
    const std::string same = "{" + stock + "}.other";
    lease held = take(holder, patient());
    lease stays = take(holder, patient(), same);
    const std::size_t to = next_to(deployment().master_of(stock));
    deployment().begin_move(stock, to);

    goes_on(holder, held);
    goes_on(holder, stays);
    // The lock is free, but cannot be acquired until the migration has ended.
    auto waiting = other.start_lock("{" + stock + "}.free", patient());
    BOOST_TEST((waiting.wait_for(300ms) != std::future_status::ready));
    BOOST_TEST(!holder.release(std::move(stays)));

    deployment().move_keys(stock, to);
    goes_on(holder, held); // redirected by ASK
    deployment().end_move(stock, to);
    taken late = get(waiting);
    BOOST_TEST(!late.code);
    BOOST_TEST(!other.release(std::move(late.held)));
    goes_on(holder, held);
    BOOST_TEST(!holder.release(std::move(held)));
    for (const std::string& name : {stock, same, "{" + stock + "}.free"})
        BOOST_TEST(holder_in_cluster(name).empty());
}

// A request that timed out during the migration does not acquire the lock afterwards.
BOOST_AUTO_TEST_CASE(row_23_timed_out_lock_in_a_migrating_slot_orphans_nothing)
{
    client_thread locks(in_cluster());
    const std::size_t to = next_to(deployment().master_of(stock));
    BOOST_TEST(!locks.release(take(locks)));
    deployment().begin_move(stock, to);
    lock_options brief = long_leases();
    brief.wait_limit = 200ms;
    std::vector<std::future<taken>> waiting;
    for (int i = 0; i < 20; ++i)
        waiting.push_back(locks.start_lock("{" + stock + "}" + std::to_string(i), brief));
    for (auto& each : waiting)
        BOOST_TEST(get(each).code.failed());
    deployment().move_keys(stock, to);
    deployment().end_move(stock, to);
    lease last = take(locks); // queued behind all outstanding requests
    BOOST_TEST(!locks.release(std::move(last)));
    // An outstanding request may acquire the lock. The client then releases it at once, long before
    // its TTL ends.
    for (int i = 0; i < 20; ++i) {
        const std::string name = "{" + stock + "}" + std::to_string(i);
        wait_until([&] { return holder_in_cluster(name).empty(); });
    }
    BOOST_TEST(locks.stats().orphans == 0u);
}

// The map of the client is older than the cluster.
BOOST_AUTO_TEST_CASE(row_21_fences_rise_while_slots_move_back_and_forth)
{
    client_thread a(in_cluster());
    client_thread b(in_cluster());
    std::uint64_t fence = 0;
    for (int i = 0; i < 6; ++i) {
        fence = acquire_and_release(a, fence, patient());
        deployment().move(stock, next_to(deployment().master_of(stock)));
        fence = acquire_and_release(b, fence, patient());
    }
    BOOST_TEST(holder_in_cluster(stock).empty());
}

// At most one client holds a lock, with a fence above all earlier ones, wherever its slot is.
// Waiters that time out leave no lock behind.
BOOST_AUTO_TEST_CASE(row_21_contended_locks_exclude_each_other_while_their_slot_moves)
{
    constexpr std::size_t names = 3;
    const auto name_of = [](std::size_t i) { return "{" + stock + "}" + std::to_string(i); };
    std::array<std::atomic<int>, names> inside{};
    std::array<std::atomic<std::uint64_t>, names> fences{};
    std::atomic<int> grants = 0;
    std::atomic<int> violations = 0;
    std::atomic<bool> over = false;

    const auto fight = [&](std::size_t number) {
        client_thread locks(in_cluster());
        for (std::size_t turn = number; !over; ++turn) {
            const std::size_t i = turn % names;
            lock_options options = long_leases();
            // Some attempts time out early, at various points.
            options.wait_limit = turn % 4 == 0 ? 20s : std::chrono::milliseconds(turn % 7 * 5);
            taken got = locks.lock(name_of(i), options);
            if (got.code)
                continue;
            ++grants;
            const std::uint64_t before = fences[i].exchange(got.held.fence());
            if (inside[i]++ != 0 || before >= got.held.fence() || !got.held.valid())
                ++violations;
            --inside[i];
            static_cast<void>(locks.release(std::move(got.held)));
        }
        wait_until([&] { return locks.stats().orphans == 0; });
    };
    {
        std::vector<std::jthread> fighters;
        for (std::size_t number = 0; number < 4; ++number)
            fighters.emplace_back(fight, number);
        const auto end = std::chrono::steady_clock::now() + 3s;
        while (std::chrono::steady_clock::now() < end) {
            const int had = grants;
            deployment().move(stock, next_to(deployment().master_of(stock)));
            wait_until([&] { return grants > had + 5; });
        }
        over = true;
    }
    BOOST_TEST(violations == 0);
    for (std::size_t i = 0; i < names; ++i)
        wait_until([&] { return holder_in_cluster(name_of(i)).empty(); });
}

// All clients get CLUSTERDOWN until the slot is served again.
BOOST_AUTO_TEST_CASE(row_21_locks_survive_a_slot_without_a_node)
{
    client_thread holder(in_cluster());
    client_thread other(in_cluster());
    lease held = take(holder, patient());
    const std::uint64_t fence = held.fence();
    const std::size_t master = deployment().master_of(stock);
    const std::string orphan = deployment().name_at(master, "orphan:");
    deployment().orphan_slot(orphan);
    holder.seen().clear();
    holder.seen().wait_for(kind::renewal_late, 1, 30s);
    auto waiting = other.start_lock("{" + stock + "}.next", patient());
    BOOST_TEST((waiting.wait_for(300ms) != std::future_status::ready));
    BOOST_TEST(held.valid());
    deployment().adopt_slot(orphan, master);
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    goes_on(holder, held);
    BOOST_TEST(held.fence() == fence);
    BOOST_TEST(!holder.release(std::move(held)));
    BOOST_TEST(!other.release(std::move(next.held)));
    deployment().wait_until_whole();
}

BOOST_AUTO_TEST_CASE(replica_of_any_shard_confirms_its_locks)
{
    client_thread locks(in_cluster());
    lock_options options = patient();
    options.replica_acks = 1;
    options.replica_timeout = 4s;
    for (std::size_t i = 0; i < cluster_deployment::master_count; ++i) {
        const std::string name = deployment().name_at(i);
        lease held = take(locks, options, name);
        goes_on(locks, held);
        BOOST_TEST(!locks.release(std::move(held)));
    }
    options.replica_acks = 2;
    options.replica_timeout = 50ms;
    options.wait_limit = 0s;
    const std::string name = deployment().name_at(0);
    BOOST_TEST((locks.try_lock(name, options).code == errc::not_replicated));
    wait_until([&] { return holder_in_cluster(name).empty(); });
}

BOOST_AUTO_TEST_CASE(new_client_reaches_the_cluster_by_any_node)
{
    for (std::size_t i = 0; i < deployment().size(); ++i) { // replicas, too
        redis_config settings = in_cluster();
        settings.addresses = {{"127.0.0.1", 1}, {"127.0.0.1", deployment().node(i).port()}};
        client_thread locks(settings);
        BOOST_TEST(!locks.release(take(locks)));
    }
}

BOOST_AUTO_TEST_SUITE_END()

// Users and their rights in a cluster.
BOOST_FIXTURE_TEST_SUITE(cluster_users, fresh_cluster)

BOOST_AUTO_TEST_CASE(user_and_password_are_sent_to_every_node)
{
    for (std::size_t i = 0; i < deployment().size(); ++i)
        deployment().connect(i).done(
            {"ACL", "SETUSER", "app", "on", ">se%cret", "~*", "&*", "+@all"});
    redis_config settings = in_cluster();
    settings.user = "app";
    settings.password = "se%cret";
    {
        client_thread locks(settings);
        client_thread other(settings);
        for (std::size_t i = 0; i < cluster_deployment::master_count; ++i) {
            const std::string name = deployment().name_at(i);
            lease held = take(locks, long_leases(), name);
            auto waiting = other.start_lock(name, patient());
            wait_until_queued(name);
            BOOST_TEST(!other.release(hand_off(locks, std::move(held), waiting)));
        }
    }
    settings.password = "wrong";
    client_thread refused(settings);
    BOOST_TEST((refused.lock(stock, patient()).code == errc::permission_denied));
    for (std::size_t i = 0; i < deployment().size(); ++i)
        deployment().connect(i).done({"ACL", "DELUSER", "app"});
}

// The rights that docs/production.md lists for one server and for a cluster.
BOOST_AUTO_TEST_CASE(documented_rights_are_sufficient_in_a_cluster)
{
    const std::string user = tested_layout() == redis_config::key_layout::native
                                 ? "leasehold"
                                 : "leasehold_and_redisson";
    std::vector<std::vector<std::string>> commands;
    for (const std::string& of : {user, std::string("leasehold +cluster")}) {
        auto& all = commands.emplace_back(documented_rights("\nACL SETUSER " + of));
        all.at(2) = user;
    }
    for (std::size_t i = 0; i < deployment().size(); ++i) {
        resp_client there = deployment().connect(i);
        for (const auto& each : commands)
            there.done(each);
        permit_conditional_deletes(there, user);
        there.done({"ACL", "LOG", "RESET"});
    }
    redis_config settings = in_cluster();
    settings.user = user;
    settings.password = "secret";
    {
        client_thread holder(settings);
        client_thread other(settings);
        const std::string name = "orders:1";
        lease held = take(holder, patient(), name);
        auto waiting = other.start_lock(name, patient());
        wait_until_queued(name);
        const std::size_t to = next_to(deployment().master_of(name));
        deployment().begin_move(name, to);
        deployment().move_keys(name, to);
        goes_on(holder, held);
        deployment().end_move(name, to);
        goes_on(holder, held);
        BOOST_TEST(!other.release(hand_off(holder, std::move(held), waiting)));
    }
    for (std::size_t i = 0; i < deployment().size(); ++i) {
        resp_client there = deployment().connect(i);
        BOOST_TEST(refused_by(there) == "");
        there.done({"ACL", "DELUSER", user});
    }
}

BOOST_AUTO_TEST_CASE(cluster_url_of_a_single_server_is_not_supported)
{
    const redis_server single({}, {.tcp = true});
    redis_config settings = in_cluster();
    settings.addresses = {{"127.0.0.1", single.port()}};
    client_thread locks(settings);
    BOOST_TEST((locks.lock(stock, patient()).code == errc::not_supported));
}

BOOST_AUTO_TEST_CASE(server_url_of_a_cluster_is_not_supported)
{
    redis_config settings = in_cluster();
    settings.kind = redis_config::deployment::server;
    settings.addresses.resize(1);
    client_thread locks(settings);
    BOOST_TEST((locks.lock(stock, patient()).code == errc::not_supported));
}

BOOST_AUTO_TEST_CASE(name_whose_keys_cross_slots_needs_the_native_layout)
{
    client_thread locks(in_cluster());
    for (const std::string name : {"a{", "a}b", "{}x", "{", "}"}) {
        taken got = locks.lock(name, patient());
        if (tested_layout() == redis_config::key_layout::native) {
            BOOST_TEST(!got.code, name);
            BOOST_TEST(!locks.release(std::move(got.held)));
        }
        else {
            BOOST_TEST((got.code == errc::invalid_name), name);
        }
    }
}

BOOST_AUTO_TEST_CASE(cluster_over_tls_serves_locks_and_waiters)
{
    const temporary_directory files;
    const std::string key = files.file("key.pem");
    const std::string certificate = files.file("certificate.pem");
    child openssl({.command = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                               "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                               certificate, "-days", "2", "-subj", "/CN=node", "-addext",
                               "subjectAltName=IP:127.0.0.1", "-batch"}});
    const auto made = openssl.wait(30s);
    BOOST_TEST_REQUIRE(made.has_value());
    BOOST_TEST_REQUIRE(made->code == 0);
    std::vector<reserved_port> ports(cluster_deployment::master_count);
    cluster_deployment secret(
        {.replicas = false,
         .options = {"--tls-cluster", "yes", "--tls-cert-file", certificate, "--tls-key-file", key,
                     "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"},
         .options_of = [&](std::size_t i) {
             return std::vector<std::string>{"--tls-port", std::to_string(ports[i].number())};
         }});
    client_thread locks(at("rediss+cluster://127.0.0.1:" + std::to_string(ports[0].number()) +
                           "?ca=" + certificate));
    client_thread other(at("rediss+cluster://127.0.0.1:" + std::to_string(ports[1].number()) +
                           "?ca=" + certificate));
    for (std::size_t i = 0; i < secret.size(); ++i) {
        const std::string name = secret.name_at(i);
        lease held = take(locks, patient(), name);
        auto waiting = other.start_lock(name, patient());
        BOOST_TEST(!other.release(hand_off(locks, std::move(held), waiting)));
    }
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// A separate cluster that a test may break.
cluster_setup fragile()
{
    return {.node_timeout = 1500ms};
}

} // namespace

BOOST_AUTO_TEST_SUITE(lost_masters)

BOOST_AUTO_TEST_CASE(lock_survives_the_failover_of_a_killed_master)
{
    cluster_deployment broken(fragile());
    client_thread holder(at(broken.url()));
    client_thread other(at(broken.url()));
    const std::size_t dies = broken.master_of(stock);
    const std::string elsewhere = broken.name_at((dies + 1) % cluster_deployment::master_count);

    lease held = take(holder, patient());
    lease brief = take(holder, leases_of(500ms), "{" + stock + "}.brief");
    lease calm = take(holder, patient(), elsewhere);
    auto waiting = start_waiting(other, patient());
    auto lost = client_thread::start_wait_lost(brief);
    const std::uint64_t fence = held.fence();
    BOOST_TEST(broken.connect(dies).integer({"WAIT", "1", "20000"}) == 1);

    broken.node(dies).kill();
    // R3: a shard that is down delays no other shard.
    BOOST_TEST((get(lost, 60s) == condition::lease_ended));
    holder.seen().clear();
    const auto from = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
        lease quick = take(other, long_leases(),
                           elsewhere + ":" + std::to_string(0) + "{" + elsewhere + "}");
        BOOST_TEST(!other.release(std::move(quick)));
    }
    BOOST_TEST((std::chrono::steady_clock::now() - from < 1s));
    BOOST_TEST((other.try_lock(elsewhere, long_leases()).code == errc::held));
    BOOST_TEST(
        (other.try_lock("{" + stock + "}.try", long_leases()).code == condition::store_fault));
    BOOST_TEST(calm.valid());

    const std::size_t next = broken.wait_for_other_master(stock, dies);
    goes_on(holder, held);
    BOOST_TEST(held.fence() == fence);
    resp_client store = broken.connect(next);
    BOOST_TEST(holder_of(store, stock) == held.share_owner().id());
    lease after = hand_off(holder, std::move(held), waiting, 60s);
    BOOST_TEST(!other.release(std::move(after)));
    BOOST_TEST(holder_of(store, stock).empty());
    BOOST_TEST(!holder.release(std::move(calm)));
}

BOOST_AUTO_TEST_CASE(row_10_lock_survives_repeated_master_switches)
{
    cluster_deployment broken(fragile());
    client_thread holder(at(broken.url()));
    client_thread other(at(broken.url()));
    lease held = take(holder, patient());
    auto waiting = start_waiting(other, patient());
    std::uint64_t fence = held.fence();
    for (int round = 0; round < 2; ++round) {
        const std::size_t before = broken.master_of(stock);
        BOOST_TEST(broken.switch_master(stock) != before);
        goes_on(holder, held);
    }
    BOOST_TEST(held.fence() == fence);
    lease next = hand_off(holder, std::move(held), waiting, 60s);
    fence = next.fence();
    BOOST_TEST(!other.release(std::move(next)));
    BOOST_TEST(acquire_and_release(holder, fence) > fence);
}

// R3: locks at other masters are renewed while one master hangs.
BOOST_AUTO_TEST_CASE(R3_hanging_master_does_not_delay_renewals_at_others)
{
    cluster_deployment broken({.replicas = false, .node_timeout = 60s});
    client_thread locks(at(broken.url()));
    const std::string hanging = broken.name_at(0);
    const std::string well = broken.name_at(1);
    lock_options brief = leases_of(2s);
    lease one = take(locks, brief, hanging);
    lease two = take(locks, brief, well);
    auto lost = client_thread::start_wait_lost(one);
    broken.node(0).pause();
    BOOST_TEST((get(lost, 60s) == errc::expired));
    BOOST_TEST(two.valid());
    lease three = take(locks, brief, well + "{" + well + "}");
    BOOST_TEST(!locks.release(std::move(three)));
    broken.node(0).resume();
    BOOST_TEST(two.valid());
    BOOST_TEST(!locks.release(std::move(two)));
    lease again = take(locks, patient(), hanging);
    BOOST_TEST(!locks.release(std::move(again)));
}

// R3: the unanswered requests of one master do not reduce the requests to others.
BOOST_AUTO_TEST_CASE(R3_hanging_master_does_not_delay_locks_at_others)
{
    cluster_deployment broken({.replicas = false, .node_timeout = 60s});
    redis_config settings = at(broken.url());
    settings.timeout = settings.health_check = 60s; // no timeout ends the requests
    client_thread locks(settings);
    const std::string hanging = broken.name_at(0);
    const std::string well = broken.name_at(1);
    for (const std::string& each : {hanging, well})
        BOOST_TEST(!locks.release(take(locks, long_leases(), each)));
    broken.node(0).pause();

    // More than the window of outstanding requests.
    constexpr std::size_t count = 1'200;
    lock_options fixed = patient();
    fixed.renew = false;
    std::vector<std::future<taken>> waiting;
    for (std::size_t i = 0; i < count; ++i)
        waiting.push_back(locks.start_lock("{" + hanging + "}" + std::to_string(i), fixed));
    locks.seen().wait_for(kind::began, count + 2, 60s);
    lease other = take(locks, long_leases(), well);
    BOOST_TEST(!locks.release(std::move(other)));
    BOOST_TEST(locks.seen().count(kind::acquired) == 3u);
    BOOST_TEST(locks.seen().count(kind::not_acquired) == 0u);
    BOOST_TEST(locks.seen().count(kind::disconnected) == 0u);

    broken.node(0).resume();
    for (auto& each : waiting)
        BOOST_TEST(!get(each, 60s).code);
}

// Behind a gateway the nodes announce ports without a listener.
BOOST_AUTO_TEST_CASE(announced_addresses_are_translated)
{
    const auto announced = [](std::uint16_t port) { return std::to_string(port ^ 1); };
    cluster_deployment hidden(
        {.replicas = false, .announces = [&](std::size_t, std::uint16_t port) {
             return std::vector<std::string>{"cluster-announce-port " + announced(port)};
         }});
    redis_config settings = at(hidden.url());
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        const std::uint16_t port = hidden.node(i).port();
        settings.address_map.push_back(
            {{"127.0.0.1", static_cast<std::uint16_t>(port ^ 1)}, {"127.0.0.1", port}});
    }
    client_thread locks(settings);
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        lease held = take(locks, long_leases(), hidden.name_at(i));
        BOOST_TEST(!locks.release(std::move(held)));
    }
    // The address in MOVED is translated, too.
    lease held = take(locks, patient());
    hidden.move(stock, next_to(hidden.master_of(stock)));
    goes_on(locks, held);
    BOOST_TEST(!locks.release(std::move(held)));
}

BOOST_AUTO_TEST_SUITE_END()
