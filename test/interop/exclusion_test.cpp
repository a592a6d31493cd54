// Another library and this one lock the same names at the same server.
#include <boost/test/unit_test.hpp>

#include "interop/peer.hpp"
#include "redis/lab.hpp"

#include <leasehold/diagnostics.hpp>

#include <boost/asio/use_future.hpp>

#include <array>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

lock_options fixed(std::chrono::milliseconds time)
{
    lock_options options = leases_of(time);
    options.renew = false;
    return options;
}

lock_options once()
{
    lock_options options = long_leases();
    options.wait_limit = 0ms;
    return options;
}

/// All data of the server under this name.
std::vector<std::string> value_of(resp_client& store)
{
    return record_of(store, stock);
}

const std::array<std::string, 18> names{"stock",
                                        "order:42",
                                        "{tag}:a",
                                        "a:{b}:{c}",
                                        "a{b",
                                        "a}b",
                                        "}{",
                                        "{}",
                                        "{}a",
                                        "\xc3\xa4rgerlich",
                                        "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x94\x92",
                                        "with/slash",
                                        "with space",
                                        "tab\tnewline\n",
                                        "quote\"'\\",
                                        "%s*?[x]",
                                        std::string(500, 'x')};

} // namespace

BOOST_AUTO_TEST_CASE(each_library_excludes_the_other_for_every_name)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(server);
    peer theirs(server);
    for (const std::string& name : names)
        BOOST_TEST_CONTEXT(name)
        {
            BOOST_TEST_REQUIRE(theirs.lock(name, 60s));
            BOOST_TEST((ours.lock(name, once()).code == errc::held));
            BOOST_TEST(theirs.unlock(name));
            lease held = take(ours, long_leases(), name);
            BOOST_TEST(!theirs.lock(name, 60s));
            BOOST_TEST(!ours.release(std::move(held)));
            BOOST_TEST_REQUIRE(theirs.lock(name, 60s));
            BOOST_TEST(theirs.unlock(name));
        }
}

BOOST_AUTO_TEST_CASE(each_library_waits_for_the_lock_of_the_other)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(server);
    peer theirs(server);
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
        auto waiting = start_waiting(ours);
        BOOST_TEST(theirs.unlock(stock));
        taken got = get(waiting);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        theirs.start_lock(stock, 60s, 60s);
        ours.seen().clear();
        ours.seen().wait_for(kind::renewed, 2);
        BOOST_TEST(!theirs.has_answered());
        BOOST_TEST(!ours.release(std::move(got.held)));
        BOOST_TEST_REQUIRE(theirs.locked());
        BOOST_TEST(theirs.unlock(stock));
    }
}

BOOST_AUTO_TEST_CASE(each_library_acquires_an_expired_lock_of_the_other)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(server);
    peer theirs(server);
    BOOST_TEST_REQUIRE(theirs.lock(stock, 500ms));
    lease held = take(ours, fixed(500ms));
    BOOST_TEST(theirs.lock(stock, 60s, 30s));
    BOOST_TEST(!held.valid());
    // The lock of a killed peer is acquired too.
    theirs.kill();
    server.connect().done({"PEXPIRE", stock, "300"});
    BOOST_TEST(take(ours).valid());
}

BOOST_AUTO_TEST_CASE(neither_library_releases_the_lock_of_the_other)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(server);
    peer theirs(server);
    resp_client store = server.connect();
    BOOST_TEST_REQUIRE(theirs.lock(stock, 300ms));
    lease held = take(ours);
    const auto of_ours = value_of(store);
    BOOST_TEST(!theirs.unlock(stock));
    BOOST_TEST(value_of(store) == of_ours);
    BOOST_TEST(!ours.release(std::move(held)));

    lease expired = take(ours, fixed(300ms));
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s, 30s));
    const auto of_theirs = value_of(store);
    BOOST_TEST((ours.release(std::move(expired)) == condition::lease_ended));
    BOOST_TEST(value_of(store) == of_theirs);
    BOOST_TEST(theirs.unlock(stock));
}

// The other library compares its value byte for byte when it releases.
BOOST_AUTO_TEST_CASE(waiter_does_not_change_the_value_of_another_library)
{
    redis_server server({}, {.tcp = true});
    client_thread one(server);
    client_thread other(server);
    peer theirs(server);
    resp_client store = server.connect();
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
    const auto before = value_of(store);
    auto first = start_waiting(one);
    auto second = start_waiting(other);
    one.seen().wait_for(kind::waiting, 5);
    other.seen().wait_for(kind::waiting, 2);
    BOOST_TEST(value_of(store) == before);
    BOOST_TEST(theirs.unlock(stock));
    // Some layouts have no order.
    const auto has = [](std::future<taken>& of) {
        return of.wait_for(0s) == std::future_status::ready;
    };
    wait_until([&] { return has(first) || has(second); });
    const bool first_is_first = has(first);
    taken got = get(first_is_first ? first : second);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(!one.release(std::move(got.held)));
    got = get(first_is_first ? second : first);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(!other.release(std::move(got.held)));
}

// Both libraries count at the same time, each with one command to read and one to write.
BOOST_AUTO_TEST_CASE(counter_of_both_libraries_loses_no_increment)
{
    constexpr int times = 300;
    redis_server server({}, {.tcp = true});
    client_thread ours(server);
    peer theirs(server);
    resp_client store = server.connect();
    store.done({"SET", "counter", "0"});
    theirs.start_count(stock, "counter", times);
    lock_options patient = long_leases();
    patient.wait_limit = 120s;
    for (int i = 0; i < times; ++i) {
        taken got = get(ours.start_lock(stock, patient), 120s);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        const auto counted = std::stoll(store.string({"GET", "counter"}));
        store.done({"SET", "counter", std::to_string(counted + 1)});
        BOOST_TEST_REQUIRE(!ours.release(std::move(got.held)));
        // External clients poll at their own times, so the lock is left free for as long between
        // two locks.
        std::this_thread::sleep_for(5ms);
    }
    BOOST_TEST(theirs.counted());
    BOOST_TEST(std::stoll(store.string({"GET", "counter"})) == 2 * times);
}

// A lock of the other layout is not taken for a free one, and there is no wait for it: the first
// reply ends the wait, and its text names both types.
BOOST_AUTO_TEST_CASE(lock_of_the_other_layout_is_reported_as_wrong_type)
{
    redis_server server({}, {.tcp = true});
    redis_config settings = at(server);
    const bool theirs_is_a_string = tested_layout() == redis_config::key_layout::native;
    settings.layout = theirs_is_a_string ? redis_config::key_layout::redisson
                                         : redis_config::key_layout::native;
    client_thread ours(settings);
    peer theirs(server);
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
    lock_options patient = long_leases();
    patient.wait_limit = no_limit;
    diagnostics told;
    std::future<lease> refused =
        mutex(ours.locks(), stock, patient).async_lock(told, boost::asio::use_future);
    BOOST_TEST_REQUIRE((refused.wait_for(30s) == std::future_status::ready));
    BOOST_CHECK_EXCEPTION((void)refused.get(), boost::system::system_error,
                          [](const auto& e) { return e.code() == errc::wrong_type; });
    BOOST_TEST(told.attempts == 1);
    BOOST_TEST(told.server_message.find(theirs_is_a_string
                                            ? "the key stock holds string, a lock is a hash"
                                            : "the key stock holds hash, a lock is a string") !=
               std::string::npos);
    BOOST_TEST(theirs.unlock(stock));
}
