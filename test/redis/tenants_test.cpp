// Tenants that share servers: each has a user with the documented rights for the keys and channels
// with its prefix, and for no others.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/cluster_deployment.hpp"
#include "support/documented_rights.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_application.hpp"
#include "support/replicated_server.hpp"
#include "support/store_contract.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using words = std::vector<std::string>;

/// The words of a documented command, for another user, with the keys and channels of a tenant.
words for_tenant(words command, const std::string& tenant)
{
    command.at(2) = tenant;
    std::erase_if(command, [](const std::string& word) {
        return word.starts_with('~') || word.starts_with('&');
    });
    command.push_back("~" + tenant + ":*");
    command.push_back("&" + tenant + ":*");
    return command;
}

/// The documented command that makes the user `app`, for another tenant.
words documented_tenant(const std::string& tenant)
{
    words command = documented_rights("\nACL SETUSER app ");
    for (std::string& word : command) {
        if (word == "app")
            word = tenant;
        else if (const std::size_t at = word.find("app:"); at != word.npos)
            word.replace(at, 3, tenant);
    }
    return command;
}

void make_user(resp_client& server, const words& command)
{
    server.done(command);
    permit_conditional_deletes(server, command.at(2));
    server.done({"ACL", "LOG", "RESET"});
}

redis_config as(redis_config settings, const std::string& tenant)
{
    settings.user = tenant;
    settings.password = "secret";
    settings.prefix = tenant + ':';
    settings.client_info = true;
    return settings;
}

/// Nothing was denied, and every key and channel begins with the prefix of a tenant.
void check_is_separate(resp_client& server)
{
    BOOST_TEST(refused_by(server) == "");
    const auto has_prefix = [](const std::string& key) {
        return key.starts_with("app:") || key.starts_with("other:");
    };
    for (const words& all : {server.strings({"KEYS", "*"}), server.channels(),
                             server.strings({"PUBSUB", "SHARDCHANNELS"})})
        for (const std::string& each : all)
            BOOST_TEST(has_prefix(each), each);
}

/// A server with the users `app` and `other`.
struct shared_server
{
    shared_server()
    {
        for (const char* const tenant : {"app", "other"})
            make_user(raw, documented_tenant(tenant));
    }

    [[nodiscard]] redis_config of(const std::string& tenant) const
    {
        return as(at(server), tenant);
    }

    redis_server server;
    resp_client raw = server.connect();
};

/// A lab that checks after each case that the tenant has used its own keys only.
class tenant_lab : public store_lab
{
public:
    virtual void check() = 0;
};

class server_lab : public tenant_lab
{
public:
    std::shared_ptr<store> make_store() override { return make_redis_store(shared.of("app")); }
    void erase(std::string_view name) override
    {
        shared.raw.done({"DEL", "app:" + std::string(name)});
    }
    void clear() override { shared.raw.done({"FLUSHALL"}); }
    void check() override { check_is_separate(shared.raw); }

protected:
    shared_server shared;
};

/// Over a connection of an application, with the rights of the application.
class borrowed_lab final : public server_lab
{
public:
    std::shared_ptr<store> make_store() override
    {
        return make_redis_store(app_.connection(), shared.of("app"));
    }

private:
    redis_application app_{shared.server.socket()};
};

class cluster_lab final : public tenant_lab
{
public:
    cluster_lab()
    {
        clear();
        const words more = documented_rights("\nACL SETUSER leasehold +cluster");
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            resp_client node = nodes().connect(i);
            make_user(node, documented_tenant("app"));
            node.done(for_tenant(more, "app"));
        }
    }

    std::shared_ptr<store> make_store() override
    {
        return make_redis_store(as(at(nodes().url()), "app"));
    }
    void erase(std::string_view name) override
    {
        const std::string key = "app:" + std::string(name);
        nodes().connect_to(key).done({"DEL", key});
    }
    void clear() override { nodes().clear(); }
    void check() override
    {
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            resp_client node = nodes().connect(i);
            check_is_separate(node);
        }
    }

private:
    static cluster_deployment& nodes()
    {
        static cluster_deployment all({.replicas = false});
        return all;
    }
};

class quorum_lab final : public tenant_lab
{
public:
    quorum_lab()
    {
        clear();
        const words rights = documented_rights("At each member of a `redlock://`");
        for (std::size_t i = 0; i < members().size(); ++i) {
            resp_client member = members()[i].connect();
            make_user(member, for_tenant(rights, "app"));
        }
    }

    std::shared_ptr<store> make_store() override
    {
        return make_redis_store(as(members().settings(), "app"));
    }
    void erase(std::string_view name) override
    {
        members().command({"DEL", "app:" + std::string(name)});
    }
    bool is_everywhere(std::string_view name) override
    {
        return members().count("app:" + std::string(name)) == members().size();
    }
    void clear() override { members().command({"FLUSHALL"}); }
    void check() override
    {
        for (std::size_t i = 0; i < members().size(); ++i) {
            resp_client member = members()[i].connect();
            check_is_separate(member);
        }
    }

private:
    static quorum_deployment& members()
    {
        static quorum_deployment all;
        return all;
    }
};

template <class Lab>
bool add_contract()
{
    for (const testing::contract_case& each : testing::store_contract())
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [run = each.run] {
                Lab lab;
                run(lab);
                lab.check();
            },
            "contract_" + std::string(each.name), __FILE__, std::size_t{__LINE__}));
    return true;
}

/// The only entry of the queue's hash. Its last word is 1 if the client receives its grants.
std::string only_waiter(resp_client& server)
{
    const words all = server.strings({"HVALS", "app:leasehold:waiters:{app:stock}"});
    return all.size() == 1 ? all.front() : std::string();
}

} // namespace

BOOST_AUTO_TEST_SUITE(server)
const bool added = add_contract<server_lab>();
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(borrowed)
const bool added = add_contract<borrowed_lab>();
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cluster)
const bool added = add_contract<cluster_lab>();
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(quorum)
const bool added = add_contract<quorum_lab>();
BOOST_AUTO_TEST_SUITE_END()

// With a name, a reentrant acquisition, a waiter, heartbeats, records and scripts that are lost.
BOOST_AUTO_TEST_CASE(tenant_uses_every_feature_with_keys_of_its_prefix_only)
{
    shared_server shared;
    {
        client_thread a(shared.of("app"));
        client_thread b(shared.of("app"));
        lock_options options = long_leases();
        options.dead_holder_grace = 30s;
        lease held = take(a, options);
        BOOST_TEST(exists(shared.raw, "app:stock"));
        taken entry = get(b.start_reenter(stock, long_leases(), held.share_owner()));
        BOOST_TEST_REQUIRE(!entry.code, entry.code.message());
        BOOST_TEST(exists(shared.raw, "app:leasehold:entries:{app:stock}"));
        auto waiting = start_waiting(b);
        wait_until([&] { return only_waiter(shared.raw).ends_with(" 1"); });
        a.seen().wait_for(kind::renewed);
        check_is_separate(shared.raw);
        BOOST_TEST(!shared.raw.channels("app:leasehold:turn:*").empty());
        shared.raw.done({"SCRIPT", "FLUSH"});
        BOOST_TEST(!b.release(std::move(entry.held)));
        lease next = hand_off(a, std::move(held), waiting);
        a.seen().wait_for(kind::granted_next);
        BOOST_TEST(!b.release(std::move(next)));
    }
    check_is_separate(shared.raw);
    words left = shared.raw.strings({"KEYS", "*"});
    std::erase_if(left, [](const std::string& key) {
        return key.starts_with("app:leasehold:client:") || key.starts_with("app:leasehold:alive:");
    });
    BOOST_TEST(left == words{"app:leasehold:fence"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(holder_without_heartbeats_is_superseded_by_a_waiter_of_its_tenant)
{
    shared_server shared;
    redis_config quiet = shared.of("app");
    auto dead = std::make_unique<client_thread>(quiet);
    client_thread other(shared.of("app"));
    lock_options options = long_leases();
    options.lease_time = 10min;
    options.renew_interval = 5min;
    options.dead_holder_grace = 30s;
    lease held = take(*dead, options);
    const words records = shared.raw.strings({"KEYS", "app:leasehold:alive:*"});
    BOOST_TEST_REQUIRE(records.size() == 1u);
    // As if the last heartbeat was long ago, as the server knows it.
    shared.raw.done({"PEXPIRE", records.front(), "60000"});
    BOOST_TEST(!other.release(take(other, leases_of(60s))));
    check_is_separate(shared.raw);
    held = {};
}

BOOST_AUTO_TEST_CASE(errors_and_observers_have_the_name_without_the_prefix)
{
    shared_server shared;
    client_thread a(shared.of("app"));
    client_thread b(shared.of("app"));
    lease held = take(a);
    lock_options brief = long_leases();
    brief.wait_limit = 200ms;
    BOOST_TEST((b.lock(stock, brief).code == errc::timed_out));
    b.seen().wait_for(kind::not_acquired);
    const auto failed = b.seen().events(kind::not_acquired).back();
    BOOST_TEST(failed.name == stock);
    BOOST_TEST(failed.details.key == stock);
    BOOST_TEST(failed.details.holder == a.locks().id().substr(0, 8));
    BOOST_TEST(failed.details.holder_info.program == "tenants_test");
    b.seen().clear();

    shared.raw.done({"RPUSH", "app:list", "element"});
    BOOST_TEST((b.try_lock("list", brief).code == errc::wrong_type));
    b.seen().wait_for(kind::store_error);
    b.seen().wait_for(kind::not_acquired);
    for (const std::string& details :
         {b.seen().events(kind::store_error).back().name, // made of its details
          b.seen().events(kind::not_acquired).back().details.to_string()}) {
        BOOST_TEST(details.find("key 'list'") != std::string::npos, details);
        BOOST_TEST(details.find("the key app:list holds another type") != std::string::npos,
                   details);
    }
    BOOST_TEST(!a.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(prefix_applies_over_the_connection_of_an_application)
{
    shared_server shared;
    redis_application app(shared.server.socket());
    constexpr auto layout = redis_config::key_layout::native;
    asio::io_context context;
    store_session session(context, make_redis_store(app.connection(), layout, "app:"));
    session.wait_until_connected();
    BOOST_TEST(!session.acquire(contract::take("lock", "client:1")).code);
    BOOST_TEST(exists(shared.raw, "app:lock"));
    BOOST_TEST(!session.release({.name = "lock", .owner = "client:1", .entry = {}}).code);
    BOOST_TEST(!exists(shared.raw, "app:lock"));
    check_is_separate(shared.raw);
    BOOST_CHECK_THROW(static_cast<void>(make_redis_store(app.connection(), layout, "a b")),
                      boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(tenants_hold_the_same_name_with_fences_of_their_own)
{
    shared_server shared;
    client_thread app(shared.of("app"));
    client_thread other(shared.of("other"));
    lease ours = take(app);
    lease theirs = take(other);
    const std::uint64_t high = 4'000'000'000'000'000;
    shared.raw.done({"SET", "other:leasehold:fence", std::to_string(high)});
    BOOST_TEST(!other.release(std::move(theirs)));
    theirs = take(other);
    BOOST_TEST(theirs.fence() > high);
    BOOST_TEST(!app.release(std::move(ours)));
    ours = take(app);
    BOOST_TEST(ours.fence() > 0u);
    BOOST_TEST(ours.fence() < high / 1'000 * 999);
    BOOST_TEST(!app.release(std::move(ours)));
    BOOST_TEST(!other.release(std::move(theirs)));
    check_is_separate(shared.raw);
}

BOOST_AUTO_TEST_CASE(tenant_cannot_use_the_locks_of_another)
{
    shared_server shared;
    client_thread other(shared.of("other"));
    lease theirs = take(other);
    redis_config thief = shared.of("app");
    thief.prefix = "other:";
    client_thread app(thief);
    BOOST_TEST((app.lock(stock, long_leases()).code == errc::permission_denied));
    redis_config without = shared.of("app");
    without.prefix.clear();
    client_thread bare(without);
    BOOST_TEST((bare.lock("other:stock", long_leases()).code == errc::permission_denied));
    BOOST_TEST(theirs.valid());
    BOOST_TEST(!other.release(std::move(theirs)));
}

// The marker of a confirmation is a key, too.
BOOST_AUTO_TEST_CASE(replica_confirms_a_lock_of_a_tenant)
{
    replicated_server servers(1);
    resp_client raw = servers.master().connect();
    make_user(raw, documented_tenant("app"));
    raw.done({"ACL", "SETUSER", "app", "+wait"});
    raw.done({"DEL", "marker"});
    client_thread app(as(at(servers.master()), "app"));
    lock_options options = long_leases();
    options.replica_acks = 1;
    options.replica_timeout = 4s;
    lease held = take(app, options);
    resp_client replica = servers.replica(0).connect();
    BOOST_TEST(exists(replica, "app:stock"));
    BOOST_TEST(!app.release(std::move(held)));
    check_is_separate(raw);
}
