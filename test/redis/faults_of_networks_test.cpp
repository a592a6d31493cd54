// Faults of the network: all kinds of partitions, replies that come late or never, requests that
// are executed twice, and wake-ups that are lost or false. Also operations that end during these
// faults.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "redis/protocol/script.hpp"
#include "support/fault_proxy.hpp"
#include "support/only_on.hpp"
#include "support/port.hpp"
#include "support/run.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// One server with two connections: `far` goes through the proxy, `near` does not.
struct network
{
    redis_server server;
    resp_client store = server.connect();
    fault_proxy proxy{server};
    client_thread far{at(proxy.url())};
    client_thread near{server};

    network() { far.seen().wait_for(kind::connected); }

    /// The connection through the proxy is restored, and reported.
    void await_connection(std::size_t since) { far.seen().wait_for(kind::connected, since + 1); }
    std::size_t connections() { return far.seen().count(kind::connected); }
};

// A text that occurs only in such a request, for a name without a waiter.
const bool native = tested_layout() == redis_config::key_layout::native;
const std::string acquire_sha = native ? "\r\nNX\r\n" : redis_store::acquire_script().sha;
const std::string release_sha = native ? redis_store::of_native().release.sha
                                       : redis_store::release_script().sha;
const std::string renew_sha = native ? redis_store::of_native().renew.sha
                                     : redis_store::renew_script().sha;

/// The number of subscribers to grants.
std::size_t listeners(resp_client& server)
{
    return server.strings({"PUBSUB", "CHANNELS", "leasehold:turn:*"}).size();
}

/// A partition begins with `cut`. The holder behind it loses its lease at the deadline, and a
/// client outside acquires the lock.
void partition(network& net, void (fault_proxy::*cut)())
{
    taken held = net.far.lock(stock, leases_of(600ms));
    BOOST_TEST_REQUIRE(!held.code);
    net.far.seen().wait_for(kind::renewed);
    auto lost = client_thread::start_wait_lost(held.held);
    (net.proxy.*cut)();
    // At the deadline of the lease, and not at a timeout of TCP, of the connection, or of the
    // health check.
    BOOST_TEST((get(lost, 20s) == errc::expired));
    BOOST_TEST(!held.held.valid());
    taken next = net.near.lock(stock, long_leases());
    BOOST_TEST_REQUIRE(!next.code);
    BOOST_TEST(next.held.fence() > held.held.fence());
    BOOST_TEST(!held.held.valid());
    const auto owners = record_of(net.store, stock);

    // Delayed requests arrive, and do not affect the successor. Neither does the release of the
    // lost lease.
    const auto lost_fence = held.held.fence();
    held.held = lease();
    const auto before = net.connections();
    auto again = net.far.start_lock(stock, long_leases());
    net.proxy.forward();
    net.proxy.reset_all();
    net.await_connection(before);
    net.far.seen().wait_for(kind::waiting);
    BOOST_TEST(record_of(net.store, stock) == owners, boost::test_tools::per_element());
    net.near.seen().clear();
    net.near.seen().wait_for(kind::renewed, 2);
    BOOST_TEST(next.held.valid());
    const auto fence = next.held.fence();
    BOOST_TEST(fence > lost_fence);
    BOOST_TEST(!net.near.release(std::move(next.held)));
    held = get(again);
    BOOST_TEST(!held.code);
    BOOST_TEST(held.held.fence() > fence);
}

/// Every word of a request that MONITOR shows: `1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`.
std::vector<std::string> words_of(const std::string& line)
{
    std::vector<std::string> words;
    for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
        const std::size_t end = line.find('"', at + 1);
        words.push_back(line.substr(at + 1, end - at - 1));
        at = end;
    }
    return words;
}

/// Reads all requests to a server.
class monitor
{
public:
    explicit monitor(const redis_server& server) : all_(server.connect())
    {
        all_.send({"MONITOR"});
        all_.receive();
    }

    /// The next request that runs this script for a lock. A connecting client runs the script
    /// without a lock as a check.
    std::vector<std::string> next(const std::string& sha)
    {
        for (;;) {
            auto words = words_of(all_.receive().text);
            if (words.size() > 2 && words[1] == sha && words[2] != "0")
                return words;
        }
    }

private:
    resp_client all_;
};

std::vector<std::int64_t> numbers(const resp_value& value)
{
    std::vector<std::int64_t> all;
    for (const resp_value& each : value.items)
        all.push_back(each.number);
    return all;
}

} // namespace

namespace {

/// An address that leads to a master until it is demoted, and to another master afterwards.
/// Existing connections remain open.
struct moved_address
{
    redis_server old{{}, {.tcp = true}};
    redis_server next{{}, {.tcp = true}};
    fault_proxy address{old};
    client_thread waiter{at(address.url())};
    client_thread one{next};
    client_thread other{next};
    lock_options patient = long_leases();
    resp_client store = next.connect();

    moved_address()
    {
        patient.backoff_floor = patient.backoff_ceiling = 60s; // late unless woken up
    }

    /// Returns when the waiter for the lock of another client at the old master waits behind
    /// `other` for the lock of `one` at the new one, and receives messages there.
    /// @param follows The old master replicates the new one, with its messages.
    std::future<taken> demote(bool follows)
    {
        resp_client before = old.connect();
        take_for(before, stock, "another:1", 60s);
        std::future<taken> waiting = start_waiting(waiter, patient);
        wait_until([&] { return listeners(before) == 1; });
        held = take(one, patient);
        second = start_waiting(other, patient);
        wait_until([&] { return listeners(store) == 1; });
        const reserved_port unused;
        before.done(
            {"REPLICAOF", "127.0.0.1", std::to_string(follows ? next.port() : unused.number())});
        address.lead_to(next.endpoint());
        waiter.seen().clear();
        // The next request of any kind is answered by READONLY.
        static_cast<void>(waiter.try_lock("nudge", patient));
        waiter.seen().wait_for(kind::waiting);
        wait_until([&] { return listeners(store) == 2; });
        return waiting;
    }

    lease held;
    std::future<taken> second;
};

} // namespace

// A waiter receives the messages of the server to which it sends its requests.
BOOST_AUTO_TEST_CASE(row_10_waiters_follow_a_demotion_behind_an_address)
{
    for (const bool follows : {false, true}) {
        moved_address moved;
        std::future<taken> all[] = {moved.demote(follows), std::move(moved.second)};
        BOOST_TEST(!moved.one.release(std::move(moved.held)));
        for (int left = 2; left > 0; --left) {
            const auto is_ready = [](const std::future<taken>& each) {
                return each.valid() && each.wait_for(0s) == std::future_status::ready;
            };
            wait_until([&] { return std::any_of(std::begin(all), std::end(all), is_ready); });
            taken got = get(*std::find_if(std::begin(all), std::end(all), is_ready));
            BOOST_TEST_REQUIRE(!got.code, got.code.message());
            BOOST_TEST(!get(client_thread::start_release(std::move(got.held))));
        }
    }
}

// The waiter also keeps its position before later waiters.
BOOST_AUTO_TEST_CASE(row_10_waiter_keeps_its_position_after_a_demotion)
{
    for (const bool follows : {false, true}) {
        moved_address moved;
        std::future<taken> waiting = moved.demote(follows);
        lease next = hand_off(moved.one, std::move(moved.held), moved.second);
        moved.one.seen().clear();
        auto last = start_waiting(moved.one, moved.patient);
        next = hand_off(moved.other, std::move(next), waiting);
        BOOST_TEST((last.wait_for(0s) != std::future_status::ready));
        BOOST_TEST(!moved.waiter.release(std::move(next)));
        BOOST_TEST(!moved.one.release(get(last).held));
    }
}

BOOST_FIXTURE_TEST_CASE(row_11_lease_expires_in_a_half_open_partition, network)
{
    partition(*this, &fault_proxy::stall);
}

BOOST_FIXTURE_TEST_CASE(row_11_lease_expires_when_requests_vanish, network)
{
    partition(*this, &fault_proxy::drop_requests);
}

BOOST_FIXTURE_TEST_CASE(row_12_lease_survives_resets_and_refused_connections, network)
{
    lease held = take(far);
    auto waiting = start_waiting(near);
    for (int i = 0; i < 5; ++i) {
        const auto before = connections();
        proxy.reset_all();
        await_connection(before);
    }
    proxy.refuse();
    proxy.reset_all();
    far.seen().wait_for(kind::disconnected, 6);
    // A try reports the failure at once.
    BOOST_TEST((far.try_lock("free", long_leases()).code == errc::store_unavailable));
    far.seen().wait_for(kind::renewal_late);
    BOOST_TEST(held.valid());
    proxy.accept();
    far.seen().clear();
    far.seen().wait_for(kind::renewed, 2);
    BOOST_TEST(held.valid());
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    BOOST_TEST(hand_off(far, std::move(held), waiting).valid());
}

BOOST_FIXTURE_TEST_CASE(row_13_lease_expires_when_replies_vanish, network)
{
    partition(*this, &fault_proxy::drop_replies);
}

// The renewals arrive and extend the lock. Without replies the holder must stop, or no other client
// could ever acquire the lock.
BOOST_FIXTURE_TEST_CASE(row_13_holder_without_replies_stops_renewing, network)
{
    lease held = take(far, leases_of(1s));
    auto lost = client_thread::start_wait_lost(held);
    proxy.drop_replies();
    proxy.forget();
    proxy.wait_for_reply_to(renew_sha); // a renewal has extended the lock
    BOOST_TEST((get(lost) == errc::expired));
    store.reset_calls();
    proxy.forget();
    wait_until([&] { return !exists(store); });
    BOOST_CHECK_THROW(proxy.wait_for_request(renew_sha, 1, 1ms), std::runtime_error);
    acquire_and_release(near, held.fence());
}

BOOST_FIXTURE_TEST_CASE(row_16_reply_after_the_lease_time_grants_nothing, network)
{
    proxy.stall_replies();
    auto trying = far.start_try_lock(stock, leases_of(300ms));
    proxy.wait_for_reply_to(acquire_sha);
    BOOST_TEST(exists(store));
    BOOST_TEST((get(trying).code == errc::outcome_unknown));
    wait_until([&] { return far.stats().releases_sent > 0; });
    proxy.forward(); // now the reply arrives
    wait_until([&] { return far.stats().orphans == 0; });
    BOOST_TEST(far.seen().count(kind::acquired) == 0u);
    BOOST_TEST(far.stats().acquired == 0u);
    BOOST_TEST(!exists(store));
    acquire_and_release(near, 0);
    // For an operation that continues to wait, too, only a reply in time counts.
    proxy.stall_replies();
    const client_stats before = far.stats();
    auto waiting = far.start_lock(stock, leases_of(300ms));
    // The request is given up for another owner, or repeated for the same one.
    wait_until([&] {
        const client_stats now = far.stats();
        return now.releases_sent > before.releases_sent ||
               now.acquires_sent > before.acquires_sent + 1;
    });
    proxy.forward();
    taken held = get(waiting);
    BOOST_TEST_REQUIRE(!held.code);
    wait_until([&] { return far.stats().orphans == 0; });
    BOOST_TEST(held.held.valid());
    BOOST_TEST(far.stats().acquired == 1u);
}

// A stalled network delivers a request long after its caller is gone. The request must reject
// itself, or it would orphan the lock.
BOOST_FIXTURE_TEST_CASE(row_16_request_after_its_limit_is_rejected_by_the_script, network,
                        *only_on(redis_config::key_layout::redisson))
{
    acquire_and_release(far, 0); // so that the time of the server is known
    proxy.stall_requests();
    BOOST_TEST((far.try_lock(stock, leases_of(100ms)).code == errc::outcome_unknown));
    store.reset_calls();
    const auto last = store.string({"GET", stock_fence});
    proxy.forward();
    wait_until([&] { return store.calls("evalsha") > 0; });
    wait_until([&] { return far.stats().orphans == 0; });
    BOOST_TEST(store.calls("hset") == 0u);
    BOOST_TEST(store.string({"GET", stock_fence}) == last);
}

// The fast path of `native` has no limit of its own, so the orphaned lock is released.
BOOST_FIXTURE_TEST_CASE(row_16_request_after_its_limit_is_undone, network,
                        *only_on(redis_config::key_layout::native))
{
    acquire_and_release(far, 0);
    proxy.stall_requests();
    BOOST_TEST((far.try_lock(stock, leases_of(100ms)).code == errc::outcome_unknown));
    store.reset_calls();
    proxy.forward();
    wait_until([&] { return store.calls("set") > 0; });
    wait_until([&] { return !exists(store); });
    wait_until([&] { return far.stats().orphans == 0; });
    BOOST_TEST(!exists(store));
}

namespace {

/// Cuts a request and its reply at every byte.
struct cuts : network
{
    cuts()
    {
        // Ten seconds: long enough to notice an orphan that only expires.
        options.lease_time = 10s;
        options.renew = false;
        options.wait_limit = 8s;
    }

    struct exchange
    {
        std::size_t request = 10'000;
        std::size_t reply = 10'000;
    };

    /// Measures the length of the request of `operation` and of its reply: the smallest of three,
    /// in case of other messages meanwhile.
    exchange measure(const std::function<void()>& prepare, const std::function<void()>& operation)
    {
        const auto quiet = [&] {
            proxy.wait_until([](const auto& now) { return now.replies == now.requests; });
        };
        exchange least;
        for (int i = 0; i < 3; ++i) {
            prepare();
            quiet();
            const auto before = proxy.count();
            operation();
            quiet();
            const auto after = proxy.count();
            least.request = std::min<std::size_t>(least.request,
                                                  after.request_bytes - before.request_bytes);
            least.reply = std::min<std::size_t>(least.reply,
                                                after.reply_bytes - before.reply_bytes);
        }
        return least;
    }

    void at_every_byte(const exchange& sizes, const std::string& text,
                       const std::function<void()>& operation)
    {
        BOOST_TEST_REQUIRE(sizes.request > text.size());
        BOOST_TEST_REQUIRE(sizes.reply >= 4u); // an integer of one digit
        for (std::size_t n = 0; n <= sizes.request; ++n) {
            BOOST_TEST_CONTEXT("after " << n << " of " << sizes.request << " bytes of the request")
            {
                proxy_armed = [&] { proxy.cut_after_request_bytes(n, text); };
                operation();
            }
        }
        for (std::size_t n = 0; n <= sizes.reply; ++n) {
            BOOST_TEST_CONTEXT("after " << n << " of " << sizes.reply << " bytes of the reply")
            {
                proxy_armed = [&] { proxy.cut_after_reply_bytes(n, text); };
                operation();
            }
        }
        BOOST_TEST_CONTEXT("reset in place of the reply")
        {
            proxy_armed = [&] { proxy.forward_then_reset(text); };
            operation();
        }
        wait_until([&] { return far.stats().orphans == 0; });
        BOOST_TEST(!exists(store));
        BOOST_TEST(far.stats().held == 0u);
    }

    void acquire_is_cut()
    {
        const auto before = connections();
        const auto resets = proxy.count().resets;
        proxy_armed();
        taken held = far.try_lock(stock, options);
        proxy.wait_until([&](const auto& now) { return now.resets > resets; });
        if (held.code)
            BOOST_TEST((held.code == condition::store_fault), held.code.message());
        else
            static_cast<void>(client_thread::start_release(std::move(held.held)));
        fence = acquire_and_release(near, fence, options);
        await_connection(before);
    }

    void release_is_cut()
    {
        taken held = far.lock(stock, options);
        BOOST_TEST_REQUIRE(!held.code);
        BOOST_TEST(held.held.fence() > fence);
        fence = held.held.fence();
        const auto before = connections();
        const auto resets = proxy.count().resets;
        proxy_armed();
        auto releasing = client_thread::start_release(std::move(held.held));
        proxy.wait_until([&](const auto& now) { return now.resets > resets; });
        fence = acquire_and_release(near, fence, options);
        const error_code released = get(releasing);
        BOOST_TEST(!released, released.message());
        await_connection(before);
    }

    lock_options options;
    std::uint64_t fence = 0;
    std::function<void()> proxy_armed;
};

} // namespace

BOOST_FIXTURE_TEST_CASE(row_23_acquire_cut_at_every_byte_orphans_no_lock, cuts)
{
    lease held;
    const auto prepare = [&] { BOOST_TEST((!held || !far.release(std::move(held)))); };
    const auto sizes = measure(prepare, [&] { held = far.try_lock(stock, options).held; });
    fence = held.fence();
    prepare();
    at_every_byte(sizes, stock, [&] { acquire_is_cut(); });
}

BOOST_FIXTURE_TEST_CASE(row_23_release_cut_at_every_byte_frees_the_lock, cuts)
{
    lease held;
    const auto sizes = measure([&] { held = far.lock(stock, options).held; },
                               [&] { BOOST_TEST(!far.release(std::move(held))); });
    at_every_byte(sizes, stock, [&] { release_is_cut(); });
}

BOOST_FIXTURE_TEST_CASE(row_24_request_executed_twice_has_the_effect_of_one, network,
                        *only_on(redis_config::key_layout::redisson))
{
    monitor seen(server);
    lease held = take(far);
    const auto acquire = seen.next(acquire_sha);
    const owner shared = held.share_owner();
    const auto fence = static_cast<std::int64_t>(held.fence());
    const auto counted = [&] { return std::stoll(store.string({"GET", stock_fence})); };
    const auto count = [&] { return holds_of(store, stock); };

    // Acquire: the same owner, counted once, and each time fences that no other owner had.
    std::int64_t counter = counted();
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(!store.command(acquire).is_error());
        BOOST_TEST(seen.next(acquire_sha) == acquire, boost::test_tools::per_element());
        BOOST_TEST(counted() > std::exchange(counter, counted()));
    }
    BOOST_TEST(count() == 1);
    BOOST_TEST(store.integer({"HLEN", stock}) == 1);
    BOOST_TEST(held.valid());

    // Reentrant acquisition: one more, however often it is executed.
    taken inner = get(far.start_reenter(stock, long_leases(), shared));
    BOOST_TEST_REQUIRE(!inner.code);
    const auto reenter = seen.next(acquire_sha);
    BOOST_TEST(numbers(store.command(reenter)).at(0) == 1);
    BOOST_TEST(count() == 2);
    BOOST_TEST(inner.held.fence() == held.fence());
    BOOST_TEST(counted() == counter);

    // Its release: one less, however often it is executed.
    BOOST_TEST(!far.release(std::move(inner.held)));
    const auto leave = seen.next(redis_store::of_queue().leave.sha);
    BOOST_TEST(numbers(store.command(leave)).at(0) == 0);
    BOOST_TEST(count() == 1);

    // A renewal never shortens and never creates a lock.
    const auto renew = seen.next(renew_sha);
    BOOST_TEST(numbers(store.command(renew)).at(0) == 1);
    BOOST_TEST(store.integer({"PTTL", stock}) > 50'000);
    BOOST_TEST(!far.release(std::move(held)));
    const auto release = seen.next(release_sha);
    constexpr std::int64_t not_in = -2;
    BOOST_TEST(store.integer(release) == not_in);
    BOOST_TEST(numbers(store.command(renew)).at(0) == 0);
    BOOST_TEST(!exists(store));

    // Late copies of all requests do not affect the next holder.
    lease next = take(near);
    BOOST_TEST(static_cast<std::int64_t>(next.fence()) > fence);
    const auto owners = record_of(store, stock);
    for (const auto& each : {acquire, reenter, renew})
        BOOST_TEST(numbers(store.command(each)).at(0) != 1, each.at(1));
    BOOST_TEST(numbers(store.command(leave)).at(0) == 0);
    BOOST_TEST(store.integer(release) == not_in);
    BOOST_TEST(record_of(store, stock) == owners, boost::test_tools::per_element());
    near.seen().clear();
    near.seen().wait_for(kind::renewed);
    BOOST_TEST(next.valid());
}

// A copy of an acquire arrives when the caller has long released, and finds that its limit has
// passed.
BOOST_FIXTURE_TEST_CASE(row_24_acquire_repeated_after_its_limit_is_rejected, network,
                        *only_on(redis_config::key_layout::redisson))
{
    monitor seen(server);
    acquire_and_release(far, 0, leases_of(200ms));
    const auto acquire = seen.next(acquire_sha);
    const auto limit = std::stoll(acquire.at(9));
    BOOST_TEST_REQUIRE(limit > 0);
    wait_until([&] {
        const auto time = store.strings({"TIME"});
        return std::stoll(time.at(0)) * 1'000'000 + std::stoll(time.at(1)) > limit;
    });
    BOOST_TEST(numbers(store.command(acquire)).at(0) == -1);
    BOOST_TEST(!exists(store));
}

namespace {

/// A client on the thread of the test, behind a proxy. The test ends it at any point.
struct doomed
{
    doomed()
    {
        locks->async_run([](error_code) {});
        run_until(*context, [&] { return seen->count(kind::connected) > 0; });
    }

    mutex lock_of(const lock_options& options) { return {*locks, stock, options}; }

    /// Waits until all outstanding requests have been answered.
    void settle()
    {
        std::optional<error_code> ended;
        mutex(*locks, "another", long_leases()).async_lock([&](error_code code, lease held) {
            BOOST_TEST(!code);
            held.async_release([&](error_code left) { ended = left; });
        });
        run_until(*context, [&] { return ended.has_value(); });
        BOOST_TEST(!*ended);
        seen->clear();
    }

    /// The lock is free at once, although its lease would last a minute.
    void nothing_is_held() { static_cast<void>(acquire_and_release(near, 0)); }

    redis_server server;
    resp_client store = server.connect();
    fault_proxy proxy{server};
    client_thread near{server};
    std::shared_ptr<recording_observer> seen = std::make_shared<recording_observer>();
    std::unique_ptr<boost::asio::io_context> context = std::make_unique<boost::asio::io_context>(1);
    std::unique_ptr<client> locks = std::make_unique<client>(
        *context, make_redis_store(at(proxy.url())), seen);
};

} // namespace

BOOST_FIXTURE_TEST_CASE(row_25_lock_cancelled_during_its_request_is_released, doomed)
{
    using boost::asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        // Cancelled before the server gets the request, and after it.
        for (const bool executed : {false, true}) {
            proxy.forget();
            if (executed)
                proxy.stall_replies();
            else
                proxy.stall_requests();
            boost::asio::cancellation_signal signal;
            std::optional<error_code> ended;
            lock_of(long_leases())
                .async_lock(boost::asio::bind_cancellation_slot(signal.slot(),
                                                                [&](error_code code, lease held) {
                                                                    BOOST_TEST(!held);
                                                                    ended = code;
                                                                }));
            const auto at_the_proxy = [&] {
                try {
                    if (executed)
                        proxy.wait_for_reply_to(stock, 1, 5ms);
                    else
                        proxy.wait_for_request(stock, 1, 5ms);
                    return true;
                }
                catch (const std::runtime_error&) {
                    return false;
                }
            };
            const auto end = std::chrono::steady_clock::now() + 20s;
            while (!at_the_proxy()) {
                BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < end));
                context->restart();
                context->poll();
            }
            signal.emit(type);
            run_until(*context, [&] { return ended.has_value(); });
            BOOST_TEST((*ended == boost::asio::error::operation_aborted));
            proxy.forward();
            auto next = near.start_lock(stock, long_leases());
            run_until(
                *context, [&] { return next.wait_for(1ms) == std::future_status::ready; }, 20s);
            taken got = get(next);
            BOOST_TEST(!got.code);
            BOOST_TEST(!near.release(std::move(got.held)));
            BOOST_TEST(seen->count(kind::acquired) == 0u);
            settle();
        }
    }
}

BOOST_FIXTURE_TEST_CASE(row_25_lock_cancelled_while_waiting_leaves_the_queue, doomed)
{
    taken first = near.lock(stock, long_leases());
    boost::asio::cancellation_signal signal;
    std::optional<error_code> ended;
    lock_of(long_leases())
        .async_lock(boost::asio::bind_cancellation_slot(
            signal.slot(), [&](error_code code, lease) { ended = code; }));
    // Also wait until the server has the waiter in its queue: below, no code runs that would handle
    // its reply.
    run_until(*context,
              [&] { return seen->count(kind::waiting) > 0 && waiters_of(store, stock) > 0; });
    signal.emit(boost::asio::cancellation_type::total);
    run_until(*context, [&] { return ended.has_value(); });
    BOOST_TEST((*ended == boost::asio::error::operation_aborted));
    BOOST_TEST(first.held.valid());
    // The waiter has left the queue: none of its requests can still be granted.
    run_until(*context, [&] { return waiters_of(store, stock) == 0; });
    BOOST_TEST(!near.release(std::move(first.held)));
    nothing_is_held();
}

BOOST_FIXTURE_TEST_CASE(row_25_handler_that_throws_frees_the_lock, doomed)
{
    struct failure
    {};
    lock_of(long_leases()).async_lock([](error_code code, lease held) {
        BOOST_TEST(!code);
        BOOST_TEST(held.valid());
        throw failure();
    });
    BOOST_CHECK_THROW(run_until(*context, [] { return false; }), failure);
    run_until(*context, [&] { return !exists(store); });
    nothing_is_held();
    // The client continues.
    std::optional<error_code> ended;
    lock_of(long_leases()).async_lock([&](error_code code, lease) { ended = code; });
    run_until(*context, [&] { return ended.has_value(); });
    BOOST_TEST(!*ended);
    run_until(*context, [&] { return !exists(store); });
}

BOOST_FIXTURE_TEST_CASE(row_25_handler_destroyed_uncalled_frees_the_lock, doomed)
{
    // The executor is destroyed, with the lease in a handler that never runs.
    auto elsewhere = std::make_unique<boost::asio::io_context>();
    bool called = false;
    lock_of(long_leases())
        .async_lock(boost::asio::bind_executor(elsewhere->get_executor(),
                                               [&](error_code, lease) { called = true; }));
    run_until(*context, [&] { return seen->count(kind::acquired) > 0; });
    run_until(*context, [&] { return exists(store); });
    elsewhere.reset();
    BOOST_TEST(!called);
    run_until(*context, [&] { return !exists(store); });
    nothing_is_held();
}

BOOST_FIXTURE_TEST_CASE(row_25_destroyed_client_releases_its_locks, doomed)
{
    std::optional<error_code> ended;
    auto attempt = lock_of(long_leases());
    attempt.async_lock([&](error_code code, lease) { ended = code; });
    locks.reset();
    run_until(*context, [&] { return ended.has_value(); });
    context->run();
    nothing_is_held();

    locks = std::make_unique<client>(*context, make_redis_store(at(proxy.url())), seen);
    locks->async_run([](error_code) {});
    std::optional<taken> held;
    lock_of(long_leases()).async_lock([&](error_code code, lease got) {
        held.emplace(taken{code, std::move(got)});
    });
    run_until(*context, [&] { return held.has_value(); });
    BOOST_TEST(!held->code);
    locks.reset();
    run_until(*context, [&] { return !held->held.valid(); });
    context->run();
    BOOST_TEST(!exists(store));
}

BOOST_FIXTURE_TEST_CASE(row_25_stopped_context_leaves_locks_to_their_lease_time, doomed)
{
    // With a lease, a wait for its loss, a waiter, and an outstanding acquire and release.
    const lock_options options = leases_of(500ms);
    std::optional<taken> held;
    lock_of(options).async_lock(
        [&](error_code code, lease got) { held.emplace(taken{code, std::move(got)}); });
    run_until(*context, [&] { return held.has_value(); });
    BOOST_TEST_REQUIRE(!held->code);
    std::optional<taken> leaving;
    mutex(*locks, "leaving", options).async_lock([&](error_code code, lease got) {
        leaving.emplace(taken{code, std::move(got)});
    });
    run_until(*context, [&] { return leaving.has_value(); });
    BOOST_TEST_REQUIRE(!leaving->code);
    bool called = false;
    held->held.async_wait_lost([&](error_code) { called = true; });
    lock_of(options).async_lock([&](error_code, lease) { called = true; });
    proxy.stall_replies();
    proxy.forget();
    mutex(*locks, "going", options).async_lock([&](error_code, lease) { called = true; });
    leaving->held.async_release([&](error_code) { called = true; });
    while (!exists(store, "going") || exists(store, "leaving")) {
        context->restart();
        context->poll();
    }
    context->stop();
    const auto fence = held->held.fence();
    taken next = near.lock(stock, long_leases()); // after the lease time has passed
    BOOST_TEST(!next.code);
    BOOST_TEST(next.held.fence() > fence);
    BOOST_TEST(!held->held.valid());
    context.reset();
    BOOST_TEST(!held->held.valid());
    BOOST_TEST(!called);
    held.reset();
    BOOST_TEST(next.held.valid());
    locks.reset();
    taken going = near.lock("going", long_leases());
    BOOST_TEST(!going.code);
}

BOOST_FIXTURE_TEST_CASE(row_26_false_wake_ups_cause_polls_and_no_grant, network)
{
    lock_options options = leases_of(60s);
    options.backoff_floor = 60s; // polls only after a message
    options.backoff_ceiling = 60s;
    lease held = take(near);
    auto waiting = far.start_lock(stock, options);
    wait_until([&] { return listeners(store) == 1; });

    const std::string channel = store.channels().front();
    // A message that would announce the grant of this waiter.
    const std::string news = store.string({"LINDEX", "leasehold:line:{stock}", "0"}) + " stock";
    const std::string big(100'000, 'x');
    const std::vector<std::string> messages{"",
                                            news,
                                            news,
                                            "lh:nobody:1 stock",
                                            "lh: ",
                                            "lh:nobody:1 " + big,
                                            "1",
                                            "-1",
                                            "not a number",
                                            "99999999999999999999",
                                            std::string(3, '\0'),
                                            "\r\n$5\r\n",
                                            big};
    const auto before = far.stats().acquires_sent;
    std::size_t told = 0;
    for (const std::string& each : messages)
        told += static_cast<std::size_t>(store.integer({"PUBLISH", channel, each}));
    for (int i = 0; i < 200; ++i)
        told += static_cast<std::size_t>(store.integer({"PUBLISH", channel, news}));
    BOOST_TEST(told == messages.size() + 200);
    BOOST_TEST(store.integer({"PUBLISH", "redisson_lock__channel:{foreign}", "0"}) == 0);
    // The waiter polled at most once per message, and the lock stays with its holder.
    wait_until([&] { return far.stats().acquires_sent > before; });
    BOOST_TEST(held.valid());
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    // Through the wake-up, not through the backoff.
    BOOST_TEST(hand_off(near, std::move(held), waiting, 20s).valid());
    BOOST_TEST(far.stats().acquires_sent <= before + told + 3);
    BOOST_TEST(far.stats().disconnects == 0u);
}

BOOST_FIXTURE_TEST_CASE(row_26_waiter_acquires_after_a_lost_wake_up, network)
{
    lease held = take(near);
    auto waiting = far.start_lock(stock, long_leases());
    wait_until([&] { return listeners(store) == 1; });
    store.done({"DEL", stock}); // without publishing a message
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(next.held.fence() > held.fence());
}

BOOST_FIXTURE_TEST_CASE(row_26_disconnected_subscriber_still_acquires, network)
{
    std::uint64_t fence = 0;
    for (int i = 0; i < 3; ++i) {
        lock_options options = long_leases();
        if (i < 2)
            // Longer than the timeout of the test.
            options.backoff_floor = options.backoff_ceiling = 60s;
        lease held = take(near);
        BOOST_TEST(held.fence() > fence);
        auto waiting = start_waiting(far, options);
        far.seen().clear();
        wait_until([&] { return listeners(store) == 1; });
        if (i == 0) {
            // The subscriber reconnects, and receives the release.
            store.done({"CLIENT", "KILL", "TYPE", "pubsub"});
            wait_until([&] { return listeners(store) == 1; });
            BOOST_TEST(!near.release(std::move(held)));
        }
        else if (i == 1) {
            // The release is published while the subscriber is disconnected. After its reconnection
            // the waiter polls, because it may have missed a message.
            proxy.refuse();
            store.done({"CLIENT", "KILL", "TYPE", "pubsub"});
            BOOST_TEST(listeners(store) == 0);
            BOOST_TEST(!near.release(std::move(held)));
            proxy.accept();
        }
        else {
            // The subscriber never reconnects: the pause between two polls ends the wait.
            proxy.refuse();
            store.done({"CLIENT", "KILL", "TYPE", "pubsub"});
            BOOST_TEST(!near.release(std::move(held)));
        }
        taken next = get(waiting, 20s);
        BOOST_TEST(!next.code);
        fence = next.held.fence();
        if (i == 2)
            BOOST_TEST(listeners(store) == 0);
        BOOST_TEST(!far.release(std::move(next.held)));
    }
}
