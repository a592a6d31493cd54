// The pipeline alone, over a transport that the test simulates.
#include <boost/test/unit_test.hpp>

#include "redis/commands/native_commands.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/kept_transport.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/resp_text.hpp"
#include "support/counting_listener.hpp"
#include "support/manual_time.hpp"
#include "support/moved_time.hpp"
#include "support/print.hpp"

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using test::commands_in;
using test::kept_transport;
using test::numbers;
using namespace std::chrono_literals;

/// An executor without memory for posted handlers while `fails` is true.
class full_executor
{
public:
    full_executor(asio::io_context& context, const bool& fails, int& posts)
        : inner_(context.get_executor()), fails_(&fails), posts_(&posts)
    {}

    asio::io_context& query(asio::execution::context_t) const noexcept { return inner_.context(); }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept
    {
        return asio::execution::blocking.never;
    }
    full_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

    template <class Function>
    void execute(Function&& function) const
    {
        if (*fails_)
            throw std::bad_alloc();
        ++*posts_;
        asio::post(inner_, std::forward<Function>(function));
    }

    bool operator==(const full_executor&) const noexcept = default;

private:
    asio::io_context::executor_type inner_;
    const bool* fails_;
    int* posts_; ///< The number of accepted posts.
};

acquire_request take(std::string_view name)
{
    return {.name = name, .owner = "a:1", .entry = {}, .lease = 10s, .fences = 1, .budget = 10s};
}

/// Records its notifications.
struct recording_listener final : store_listener
{
    void on_wakeup(std::string_view) override {}
    void on_settled(store_partition of) override
    {
        BOOST_TEST(of == 0u);
        settled_before.push_back(connected);
    }
    void on_connected(store_partition of) override
    {
        BOOST_TEST(of == 0u);
        ++connected;
    }
    void on_disconnected(store_partition of, error_code why) override
    {
        BOOST_TEST(of == 0u);
        lost.push_back(why);
    }
    void on_error(store_partition of, error_code code, const diagnostics& details) override
    {
        BOOST_TEST(of == 0u);
        errors.emplace_back(code, details);
    }

    int connected = 0;
    /// For each notification, the number of connections before it.
    std::vector<int> settled_before;
    std::vector<error_code> lost;
    std::vector<std::pair<error_code, diagnostics>> errors;
};

constexpr std::int64_t server_time = 1'700'000'000'000'000;

std::string granted(std::int64_t fence, std::int64_t fences = 1)
{
    return numbers({1, fence, fences, server_time});
}

std::string held(std::int64_t holder)
{
    return numbers({0, 5000, holder, server_time});
}

const std::string noscript = "-NOSCRIPT No matching script. Please use EVAL.\r\n";

/// The words of each command of a batch.
std::vector<std::vector<std::string>> words(const batch& sent)
{
    return commands_in(sent.request.payload());
}

/// The reply of the script that leaves the queue, if no other waiter got the lock.
std::string left(std::int64_t status, std::int64_t receivers = 0)
{
    return numbers({status, receivers, 0, 0, 0, server_time});
}

constexpr std::size_t latest = 9; ///< The index of that limit among the words of an acquire.

/// A pipeline whose server is simulated by the test.
struct pipeline_fixture
{
    explicit pipeline_fixture(
        std::unique_ptr<command_set> keys = std::make_unique<redisson_commands>(24h))
        : made(std::make_shared<pipeline>(way, std::move(keys), time.make_source(), 5s))
    {
        made->open(strand, detail::context_poster::make(strand), ears);
    }

    ~pipeline_fixture()
    {
        made->close();
        poll();
    }

    void poll() { test::run_due(context, time); }

    void up(std::optional<std::int64_t> server_us = std::nullopt)
    {
        way->observer->on_up(server_us);
        poll();
    }

    void down(error_code why, std::string_view said = {})
    {
        way->observer->on_down(why, said);
        poll();
    }

    void acquire(acquire_request request)
    {
        made->acquire(request, [this](error_code failed, const acquire_reply& reply) {
            acquired.emplace_back(failed, reply);
        });
    }

    void acquire(std::string_view name) { acquire(take(name)); }

    void release(std::string_view name)
    {
        made->release({.name = name, .owner = "a:1", .entry = {}},
                      [this](error_code failed, const release_reply& reply) {
                          released.emplace_back(failed, reply);
                      });
    }

    /// The server answers this many commands of a batch.
    void answer(std::size_t index, std::initializer_list<std::string> replies)
    {
        boost::redis::any_adapter adapter = way->sent.at(index)->adapter();
        for (const std::string& each : replies) {
            boost::redis::resp3::parser parser;
            error_code failed;
            BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, each, adapter, failed));
            BOOST_TEST_REQUIRE(!failed);
        }
        poll();
    }

    void end(std::size_t index, error_code unanswered = {})
    {
        const auto sent = way->sent.at(index);
        sent->owner->on_end(sent, unanswered);
        poll();
    }

    void answer_all(std::size_t index, std::initializer_list<std::string> replies)
    {
        answer(index, replies);
        end(index);
    }

    asio::io_context context;
    asio::any_io_executor strand = asio::make_strand(context);
    test::manual_time time;
    recording_listener ears;
    std::shared_ptr<kept_transport> way = std::make_shared<kept_transport>();
    std::shared_ptr<pipeline> made;
    std::vector<std::pair<error_code, acquire_reply>> acquired;
    std::vector<std::pair<error_code, release_reply>> released;
};

/// A user whose strand has no memory for a notification, and that counts its posts.
struct posting_fixture
{
    posting_fixture()
    {
        made->open(strand, detail::context_poster::make(strand), ears);
        way->observer->on_up(std::nullopt);
    }

    asio::io_context context;
    bool fails = false;
    int posts = 0;
    const asio::any_io_executor strand = full_executor(context, fails, posts);
    test::counting_listener ears;
    const std::shared_ptr<kept_transport> way = std::make_shared<kept_transport>();
    const std::shared_ptr<pipeline> made = std::make_shared<pipeline>(
        way, std::make_unique<redisson_commands>(24h), leasehold::detail::make_system_time(), 5s);
};

} // namespace

BOOST_AUTO_TEST_SUITE(redis_pipeline)

BOOST_FIXTURE_TEST_CASE(post_that_throws_does_not_block_later_requests, posting_fixture)
{
    made->acquire(take("one"), [](error_code, acquire_reply) {});
    BOOST_TEST(way->sent.size() == 1u); // nothing was outstanding
    fails = true;
    BOOST_CHECK_THROW(made->acquire(take("two"), [](error_code, acquire_reply) {}), std::bad_alloc);
    fails = false;
    made->acquire(take("three"), [](error_code, acquire_reply) {});
    context.poll();
    BOOST_TEST(way->sent.size() == 2u);
    made->close();
    context.poll();
}

// Not one post for each reply. The end of the batch delivers the last one.
BOOST_FIXTURE_TEST_CASE(one_post_delivers_all_replies_of_one_read, posting_fixture)
{
    made->acquire(take("first"), [](error_code, acquire_reply) {});
    int answered = 0;
    for (int i = 0; i < 5; ++i)
        made->acquire(take("a"), [&](error_code, acquire_reply) { ++answered; });
    context.poll();
    BOOST_TEST_REQUIRE(way->sent.size() == 2u);
    boost::redis::any_adapter adapter = way->sent[1]->adapter();
    const auto read = [&](int count) {
        posts = 0;
        for (; count > 0; --count) {
            boost::redis::resp3::parser parser;
            error_code failed;
            BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, granted(7), adapter, failed));
        }
        return posts;
    };
    BOOST_TEST(read(3) == 1);
    context.restart();
    context.poll();
    BOOST_TEST(answered == 3);
    BOOST_TEST(read(2) == 1); // the first of them
    made->close();
    context.restart();
    context.poll();
}

BOOST_AUTO_TEST_CASE(acquire_and_release_are_sent_with_their_words)
{
    pipeline_fixture f;
    f.up(server_time);
    f.time.set(f.time.now() + 2s);
    f.acquire({.name = "stock",
               .owner = "a:1",
               .entry = "e",
               .lease = 30s,
               .fences = 7,
               .budget = 5s,
               .needs_holder = true});
    const auto asked = words(*f.way->sent.at(0)).at(0);
    const std::vector<std::string> expected = {"EVALSHA",
                                               acquire_script().sha,
                                               "2",
                                               "stock",
                                               "redisson_lock_token:{stock}",
                                               "a:1",
                                               "30000",
                                               "7",
                                               std::to_string(server_time + 7'000'000),
                                               "86400000",
                                               "e"};
    BOOST_TEST(asked == expected, boost::test_tools::per_element());
    f.release("stock");
    f.poll();
    const std::vector<std::string> released = {"EVALSHA",
                                               release_script().sha,
                                               "2",
                                               "stock",
                                               "leasehold:line:{stock}",
                                               "a:1",
                                               "redisson_lock__channel:{stock}"};
    BOOST_TEST(words(*f.way->sent.at(1)).at(0) == released, boost::test_tools::per_element());
    acquire_request takes = take("stock");
    takes.budget = 5s;
    takes.needs_holder = true;
    f.acquire(takes);
    f.poll();
    const std::vector<std::string> taken = {"EVALSHA",
                                            acquire_script().sha,
                                            "3",
                                            "stock",
                                            "redisson_lock_token:{stock}",
                                            "leasehold:line:{stock}",
                                            "a:1",
                                            std::to_string(takes.lease.count()),
                                            std::to_string(takes.fences),
                                            std::to_string(server_time + 7'000'000),
                                            "86400000",
                                            "",
                                            "1"};
    BOOST_TEST(words(*f.way->sent.at(2)).at(0) == taken, boost::test_tools::per_element());
}

// The reply belongs to another request, and so may all later ones: the connection has to end.
BOOST_AUTO_TEST_CASE(malformed_reply_is_an_error_of_the_connection)
{
    const std::vector<std::string> odd = {
        numbers({1, 7, 1}),
        numbers({1, 7, 1, server_time, 1}),
        numbers({}),
        "+OK\r\n",
        "_\r\n",
        "$1\r\n1\r\n",
        "*4\r\n:1\r\n:7\r\n:1\r\n$3\r\n12a\r\n",
        "*4\r\n:1\r\n:7\r\n:1\r\n$0\r\n\r\n",
        "*4\r\n:1\r\n-ERR x\r\n:1\r\n:1\r\n",
        "*4\r\n-ERR x\r\n:7\r\n:1\r\n:1\r\n",
        "*4\r\n:1\r\n*1\r\n:1\r\n:1\r\n:1\r\n",
        "*4\r\n:1\r\n_\r\n:1\r\n:1\r\n",
        "%2\r\n:1\r\n:7\r\n:1\r\n:1\r\n",
    };
    for (const std::string& each : odd) {
        pipeline_fixture f;
        f.up();
        f.acquire("a");
        boost::redis::any_adapter adapter = f.way->sent.at(0)->adapter();
        boost::redis::resp3::parser parser;
        error_code failed;
        boost::redis::resp3::parse(parser, each, adapter, failed);
        BOOST_TEST(static_cast<bool>(failed), each);
        BOOST_TEST(f.acquired.empty());
    }
}

// Each connection reports the time, and so do the replies to requests.
BOOST_AUTO_TEST_CASE(server_time_is_updated_by_connections_and_replies)
{
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    BOOST_TEST(words(*f.way->sent.at(0)).at(0).at(latest) == "0"); // the time is not known yet
    f.answer_all(0, {granted(7)});
    f.acquire("a");
    BOOST_TEST(words(*f.way->sent.at(1)).at(0).at(latest) ==
               std::to_string(server_time + 10'000'000));
    f.answer_all(1, {granted(8)});
    f.down(errc::store_unavailable);
    f.up(server_time - 3600'000'000); // another server
    f.acquire("a");
    BOOST_TEST(words(*f.way->sent.at(2)).at(0).at(latest) ==
               std::to_string(server_time - 3590'000'000));
}

// The connection may remain open.
BOOST_AUTO_TEST_CASE(first_commands_are_repeated_if_unanswered_or_rejected)
{
    pipeline_fixture f(std::make_unique<native_commands>(nullptr, false));
    f.up();
    BOOST_TEST_REQUIRE(f.way->sent.size() == 1u);
    f.end(0, errc::store_unavailable);
    BOOST_TEST((f.way->begun_again == std::vector<error_code>{errc::store_unavailable}));
    f.up();
    BOOST_TEST_REQUIRE(f.way->sent.size() == 2u);
    f.answer(1, {"$4\r\nid=3\r\n", "-ERR unknown command\r\n", "-ERR unknown command\r\n",
                 "-LOADING x\r\n"});
    f.end(1);
    BOOST_TEST((f.way->begun_again ==
                std::vector<error_code>{errc::store_unavailable, errc::store_refused}));
    BOOST_TEST(f.ears.connected == 0);
    f.up();
    f.answer(2, {"$4\r\nid=3\r\n", "-ERR unknown command\r\n", "-ERR unknown command\r\n",
                 "*1\r\n:7\r\n"});
    f.end(2);
    BOOST_TEST(f.ears.connected == 1);
    BOOST_TEST(f.way->begun_again.size() == 2u);
}

BOOST_AUTO_TEST_CASE(requests_are_settled_when_their_connection_was_ended)
{
    pipeline_fixture f(std::make_unique<native_commands>(nullptr, false));
    const auto text = [](const std::string& said) {
        return '$' + std::to_string(said.size()) + "\r\n" + said + "\r\n";
    };
    const std::string unknown = "-ERR unknown command\r\n", raised = "*1\r\n:7\r\n";
    f.up();
    f.answer_all(0, {text("id=3 addr=10.0.0.1:50"), unknown, unknown, raised});
    BOOST_TEST(f.ears.settled_before.empty());
    f.down(errc::store_unavailable);
    f.up();
    const auto kill = words(*f.way->sent.at(1)).at(0);
    BOOST_TEST(kill.at(1) == "KILL");
    f.answer_all(1, {":1\r\n", text("id=4 addr=10.0.0.1:51"), unknown, unknown, raised});
    BOOST_TEST(f.ears.connected == 2);
    BOOST_TEST(f.ears.settled_before == std::vector<int>{1}, boost::test_tools::per_element());
    // Not if the server refuses to end the connection.
    f.down(errc::store_unavailable);
    f.up();
    f.answer_all(2, {"-NOPERM x\r\n", text("id=5 addr=10.0.0.1:52"), unknown, unknown, raised});
    BOOST_TEST(f.ears.connected == 3);
    BOOST_TEST(f.ears.settled_before.size() == 1u);
}

// One server product answers with an error where another does not.
BOOST_AUTO_TEST_CASE(server_may_know_either_conditional_delete)
{
    const std::string unknown = "-ERR unknown command\r\n", none = ":0\r\n";
    for (const std::string& delifeq : {unknown, none}) {
        for (const std::string& delex : {unknown, none}) {
            pipeline_fixture f(std::make_unique<native_commands>(nullptr, false));
            f.up();
            f.answer_all(0, {"$4\r\nid=3\r\n", delifeq, delex, "*1\r\n:7\r\n"});
            BOOST_TEST(f.ears.connected == 1);
            BOOST_TEST(f.way->begun_again.empty());
        }
    }
}

// A full server can still renew and release held locks. Its counter may be behind the clock until a
// draw has checked it.
BOOST_AUTO_TEST_CASE(server_without_memory_serves_with_a_checked_counter)
{
    for (const char* const full : {"-OOM x\r\n", "-MISCONF x\r\n", "-NOREPLICAS x\r\n"}) {
        pipeline_fixture f(std::make_unique<native_commands>(nullptr, false));
        std::size_t batch = 0;
        const auto connect = [&](const std::string& raised) {
            f.up();
            f.answer(batch, {"$4\r\nid=3\r\n", "-ERR unknown command\r\n",
                             "-ERR unknown command\r\n", raised});
            f.end(batch++);
        };
        const auto verb_of_acquire = [&](std::string_view name, const std::string& answer) {
            f.acquire(name);
            f.poll();
            const auto asked = words(*f.way->sent.at(batch)).at(0);
            if (asked[0] == "SET")
                f.answer(batch, {"_\r\n", ':' + answer + "\r\n"});
            else
                f.answer(batch, {answer});
            f.end(batch++);
            return asked[0] == "EVALSHA" ? asked[0] + ' ' + asked[11] : asked[0];
        };
        const auto says = [](std::int64_t status, std::int64_t fence) {
            return numbers({status, fence, 0, status == 1 ? 1 : 0, server_time});
        };
        connect(numbers({1000}));
        BOOST_TEST(verb_of_acquire("a", "1001") == "SET");
        f.down(errc::store_unavailable);
        connect(full);
        BOOST_TEST(f.ears.connected == 2);
        BOOST_TEST(f.way->begun_again.empty());
        BOOST_TEST(verb_of_acquire("b", full) == "EVALSHA -1001");
        BOOST_TEST(verb_of_acquire("c", says(0, 5)) == "EVALSHA -1001");
        BOOST_TEST(verb_of_acquire("d", says(1, 2000)) == "EVALSHA -1001");
        BOOST_TEST(verb_of_acquire("e", "2001") == "SET");
        // A later connection raises the counter itself.
        f.down(errc::store_unavailable);
        connect(full);
        f.down(errc::store_unavailable);
        connect(numbers({3000}));
        BOOST_TEST(verb_of_acquire("f", "3001") == "SET");
    }
}

namespace {

/// A server of the other layout, after its first request.
struct native_server : pipeline_fixture
{
    native_server() : pipeline_fixture(std::make_unique<native_commands>(nullptr, false))
    {
        up(server_time);
        answer_all(0, {"$4\r\nid=3\r\n", "-ERR unknown command\r\n", "-ERR unknown command\r\n",
                       numbers({1000})});
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(next_owner_of_a_release_has_its_own_limit)
{
    native_server f;
    f.time.set(f.time.now() + 2s);
    acquire_request next = take("a");
    next.owner = "a:2";
    next.budget = 3s;
    f.made->release({.name = "a", .owner = "a:1", .entry = {}, .next = &next},
                    [](error_code, const release_reply&) {});
    f.poll();
    constexpr std::size_t latest_of_next = 13;
    BOOST_TEST(words(*f.way->sent.at(1)).at(0).at(latest_of_next) ==
               std::to_string(server_time + 5'000'000));
}

// The lock is held, but without fences: the caller releases it.
BOOST_AUTO_TEST_CASE(acquired_lock_without_fences_may_be_held)
{
    native_server f;
    f.acquire("a");
    f.poll();
    BOOST_TEST(words(*f.way->sent.at(1)).at(0).at(0) == "SET");
    f.answer_all(1, {"_\r\n", "-OOM x\r\n"});
    BOOST_TEST(f.acquired.empty()); // the slow path decides
    f.answer_all(2, {"-OOM x\r\n"});
    BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
    BOOST_TEST((f.acquired[0].first == errc::store_refused));
    BOOST_TEST(f.acquired[0].second.may_hold);

    f.acquire("b");
    f.poll();
    f.answer_all(3, {"-OOM x\r\n", ":1001\r\n"});
    BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
    BOOST_TEST((f.acquired[1].first == errc::store_refused));
    BOOST_TEST(!f.acquired[1].second.may_hold);
}

namespace {

acquire_request take_with(std::string_view name, std::uint32_t fences)
{
    acquire_request asked = take(name);
    asked.fences = fences;
    return asked;
}

/// The counts of fences that a batch draws, in order.
std::vector<std::string> drawn(const batch& sent)
{
    std::vector<std::string> all;
    for (const auto& each : words(sent))
        if (each.at(0) == "INCRBY")
            all.push_back(each.at(2));
    return all;
}

} // namespace

// The draw follows the last of these acquires, so that each fence is drawn after its lock was
// acquired.
BOOST_AUTO_TEST_CASE(acquires_of_one_batch_draw_their_fences_together)
{
    native_server f;
    f.acquire("first"); // sent at once
    f.acquire(take_with("a", 16));
    f.acquire(take_with("b", 16));
    f.release("c");
    f.acquire(take_with("d", 16));
    f.release("e");
    f.poll();
    f.answer_all(1, {"_\r\n", ":1001\r\n"});
    BOOST_TEST_REQUIRE(f.acquired.size() == 1u);

    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 5u);
    BOOST_TEST(asked[3].at(0) == "INCRBY");
    BOOST_TEST(asked[3].at(2) == "48");
    f.answer(2, {"_\r\n", "$1\r\nx\r\n", "_\r\n"});
    BOOST_TEST(f.acquired.size() == 1u); // without fences there is no grant
    f.answer_all(2, {":2000\r\n", numbers({1, 1})});
    BOOST_TEST_REQUIRE(f.acquired.size() == 4u);
    BOOST_TEST(f.released.size() == 2u);
    const auto& a = f.acquired[1].second;
    BOOST_TEST((a.result == acquire_reply::outcome::granted));
    BOOST_TEST(a.first_fence == 1953u);
    BOOST_TEST(a.fences == 16u);
    BOOST_TEST((f.acquired[2].second.result == acquire_reply::outcome::held));
    BOOST_TEST(f.acquired[3].second.first_fence == 1985u);
}

BOOST_AUTO_TEST_CASE(draw_serves_at_most_sixteen_acquires_of_equal_counts)
{
    native_server f;
    f.acquire("first");
    for (int i = 0; i < 17; ++i)
        f.acquire(take_with("a" + std::to_string(i), 16));
    f.acquire(take_with("b", 1));
    f.poll();
    BOOST_TEST((drawn(*f.way->sent.at(2)) == std::vector<std::string>{"256", "16", "1"}));
    for (int i = 0; i < 16; ++i)
        f.answer(2, {"_\r\n"});
    f.answer(2, {":2000\r\n"});
    BOOST_TEST(f.acquired.size() == 16u);
}

// The counter was lost: a share below the largest fence seen is not used.
BOOST_AUTO_TEST_CASE(share_below_the_largest_seen_fence_is_drawn_again)
{
    native_server f; // the largest seen fence is 1000
    f.acquire("first");
    f.acquire(take_with("a", 16));
    f.acquire(take_with("b", 16));
    f.poll();
    f.answer_all(1, {"_\r\n", ":1001\r\n"});
    f.answer_all(2, {"_\r\n", "_\r\n", ":1031\r\n"});
    BOOST_TEST(f.acquired.size() == 2u); // "b" has 1016 to 1031
    BOOST_TEST(f.acquired[1].second.first_fence == 1016u);
    const auto asked = words(*f.way->sent.at(3));
    BOOST_TEST(asked.size() == 1u);
    BOOST_TEST(asked.at(0).at(3) == "a");
}

BOOST_AUTO_TEST_CASE(missing_reply_to_a_draw_makes_its_acquires_unknown)
{
    native_server f;
    f.acquire("first");
    f.acquire("a");
    f.acquire("b");
    f.poll();
    f.answer(2, {"_\r\n", "_\r\n"});
    f.end(2, errc::outcome_unknown);
    BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
    BOOST_TEST((f.acquired[0].first == errc::outcome_unknown));
    BOOST_TEST((f.acquired[1].first == errc::outcome_unknown));
    BOOST_TEST(f.ears.errors.empty());
}

namespace {

using outcomes = std::vector<release_reply::outcome>;

outcomes results_of(const pipeline_fixture& f)
{
    outcomes all;
    for (const auto& [failed, reply] : f.released) {
        BOOST_TEST(!failed, failed.message());
        all.push_back(reply.result);
    }
    return all;
}

constexpr auto freed = release_reply::outcome::freed;
constexpr auto not_owner = release_reply::outcome::not_owner;

} // namespace

BOOST_AUTO_TEST_CASE(releases_of_one_turn_are_one_script)
{
    native_server f;
    f.acquire("first"); // sent at once
    for (const char* const name : {"a", "b", "c"})
        f.release(name);
    f.poll();
    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 1u);
    BOOST_TEST((asked[0] == std::vector<std::string>{"EVALSHA", of_native().release_all.sha, "3",
                                                     "a", "b", "c", "lh:a:1", "lh:a:1", "lh:a:1"}));
    f.answer_all(2, {numbers({1, 0, 1})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed}));
    // "b" had waiters, or another owner: it is released by the slow path.
    const auto slow = words(*f.way->sent.at(3));
    BOOST_TEST_REQUIRE(slow.size() == 1u);
    BOOST_TEST(slow[0].at(1) == of_native().leave.sha);
    BOOST_TEST(slow[0].at(3) == "b");
    BOOST_TEST(slow[0].at(8) == "lh:a:1");
    f.answer_all(3, {numbers({0, 0, 0, 0, server_time})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed, not_owner}));
}

BOOST_AUTO_TEST_CASE(releases_of_one_turn_are_one_script_of_the_redisson_layout)
{
    pipeline_fixture f;
    f.up(server_time);
    f.made->knows_receivers = [] { return true; };
    f.acquire("first"); // sent at once
    for (const char* const name : {"a", "b", "c"})
        f.release(name);
    f.poll();
    const auto asked = words(*f.way->sent.at(1));
    BOOST_TEST_REQUIRE(asked.size() == 1u);
    BOOST_TEST((asked[0] == std::vector<std::string>{
                                "EVALSHA", release_all_script().sha, "6", "a", "leasehold:line:{a}",
                                "b", "leasehold:line:{b}", "c", "leasehold:line:{c}", "a:1",
                                "redisson_lock__channel:{a}", "a:1", "redisson_lock__channel:{b}",
                                "a:1", "redisson_lock__channel:{c}"}));
    f.answer_all(1, {numbers({2, -2, -1})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed}));
    BOOST_TEST(f.released[0].second.receivers == 2u);
    BOOST_TEST(f.released[0].second.receivers_known);
    BOOST_TEST(f.released[1].second.receivers == 0u);
    BOOST_TEST(!f.released[1].second.receivers_known); // this user may not publish
    // "b" had waiters, or another owner: it is released by the slow path.
    const auto slow = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(slow.size() == 1u);
    BOOST_TEST(slow[0].at(1) == of_queue().leave.sha);
    BOOST_TEST(slow[0].at(3) == "b");
    BOOST_TEST(slow[0].at(7) == "a:1");
    f.answer_all(2, {numbers({0, 0, 0, 0, 0, server_time})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed, not_owner}));
}

BOOST_AUTO_TEST_CASE(single_release_of_a_turn_is_sent_as_without_a_group)
{
    native_server f;
    f.acquire("first");
    f.release("a");
    f.poll();
    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 1u);
    BOOST_TEST(asked[0].at(1) == of_native().release.sha);
    f.answer_all(2, {":1\r\n"});
    BOOST_TEST((results_of(f) == outcomes{freed}));
}

BOOST_AUTO_TEST_CASE(one_script_executes_at_most_fifty_releases)
{
    native_server f;
    f.acquire("first");
    for (int i = 0; i < 52; ++i)
        f.release("a" + std::to_string(i));
    f.poll();
    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 2u);
    BOOST_TEST(asked[0].at(2) == "50");
    BOOST_TEST(asked[1].at(2) == "2");
}

BOOST_AUTO_TEST_CASE(requests_for_a_name_in_a_group_keep_their_order)
{
    native_server f;
    f.acquire("first");
    f.release("a");
    f.release("b");
    f.acquire("b");
    f.release("b");
    f.release("c");
    f.release("c");
    f.poll();
    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 5u);
    BOOST_TEST(asked[0].at(1) == of_native().release_all.sha); // "a" and "b"
    BOOST_TEST(asked[1].at(0) == "SET");
    BOOST_TEST(asked[2].at(1) == of_native().release_all.sha); // "b" and "c"
    BOOST_TEST(asked[3].at(0) == "INCRBY");
    BOOST_TEST(asked[4].at(1) == of_native().release.sha); // "c"
    f.answer_all(2, {numbers({1, 1}), "_\r\n", numbers({1, 1}), ":1001\r\n", ":0\r\n"});
    BOOST_TEST((results_of(f) == outcomes{freed, freed, freed, freed}));
    f.answer_all(3, {numbers({0, 0, 0, 0, server_time})});
    BOOST_TEST(f.released.size() == 5u);
}

BOOST_AUTO_TEST_CASE(renewals_follow_the_releases_of_their_turn)
{
    native_server f;
    f.acquire("first");
    f.release("a");
    f.release("b");
    const renewal one[] = {{"a", "a:1", 10s}};
    f.made->renew(one, [](error_code, const renew_reply&) {});
    f.poll();
    const auto asked = words(*f.way->sent.at(2));
    BOOST_TEST_REQUIRE(asked.size() == 2u);
    BOOST_TEST(asked[0].at(1) == of_native().release_all.sha);
    BOOST_TEST(asked[1].at(1) == of_native().renew_brief.sha);
}

BOOST_AUTO_TEST_CASE(missing_script_of_a_group_is_sent)
{
    native_server f;
    f.acquire("first");
    f.release("a");
    f.release("b");
    f.poll();
    f.answer_all(2, {noscript});
    BOOST_TEST(f.released.empty());
    const auto asked = words(*f.way->sent.at(3));
    BOOST_TEST_REQUIRE(asked.size() == 1u);
    BOOST_TEST(asked[0].at(0) == "EVAL");
    BOOST_TEST(asked[0].at(1) == of_native().release_all.text);
    f.answer_all(3, {numbers({1, 1})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed}));
}

BOOST_AUTO_TEST_CASE(failed_group_fails_each_of_its_releases)
{
    native_server f;
    f.acquire("first");
    f.release("a");
    f.release("b");
    f.poll();
    f.end(2, errc::outcome_unknown);
    f.release("c");
    f.release("d");
    f.poll();
    // Nothing was executed, and each gets its own error.
    f.answer_all(3, {"-NOPERM c\r\n"});
    BOOST_TEST(words(*f.way->sent.at(4)).size() == 2u);
    f.answer_all(4, {"-NOPERM c\r\n", "-LOADING x\r\n"});
    BOOST_TEST(f.ears.errors.size() == 2u);
    f.release("e");
    f.release("f");
    f.down(errc::store_unavailable); // before they are written
    const errc expected[] = {errc::outcome_unknown,   errc::outcome_unknown,
                             errc::permission_denied, errc::store_refused,
                             errc::store_unavailable, errc::store_unavailable};
    BOOST_TEST_REQUIRE(f.released.size() == std::size(expected));
    for (std::size_t i = 0; i < std::size(expected); ++i)
        BOOST_TEST((f.released[i].first == expected[i]));
}

// FLUSHALL: the fence is too small, and the slow path of the acquire follows behind the group.
BOOST_AUTO_TEST_CASE(release_of_a_group_is_repeated_behind_its_acquire)
{
    native_server f;
    f.acquire("a");
    f.release("a");
    f.release("b");
    f.poll();
    f.answer_all(1, {"_\r\n", ":1\r\n"});
    f.answer_all(2, {numbers({1, 1})});
    BOOST_TEST((results_of(f) == outcomes{freed})); // "b"
    BOOST_TEST_REQUIRE(f.way->sent.size() == 5u);
    f.answer_all(3, {numbers({1, 2000, 0, 1, server_time})});
    BOOST_TEST((f.acquired.at(0).second.result == acquire_reply::outcome::granted));
    BOOST_TEST(words(*f.way->sent[4]).at(0).at(3) == "a");
    f.answer_all(4, {numbers({0, 0, 0, 0, server_time})});
    BOOST_TEST((results_of(f) == outcomes{freed, freed})); // its first result
}

BOOST_AUTO_TEST_CASE(each_reason_for_a_lost_connection_is_reported_once)
{
    pipeline_fixture f;
    f.down(errc::store_unavailable);
    f.down(errc::store_unavailable);
    f.down(asio::error::connection_refused); // the same for callers
    BOOST_TEST((f.ears.lost == std::vector<error_code>{errc::store_unavailable}));
    f.down(errc::store_refused, "LOADING x");
    f.down(errc::store_refused, "LOADING x");
    f.down(errc::permission_denied, "NOPERM x");
    BOOST_TEST((f.ears.lost == std::vector<error_code>{errc::store_unavailable, errc::store_refused,
                                                       errc::permission_denied}));
    BOOST_TEST_REQUIRE(f.ears.errors.size() == 2u);
    BOOST_TEST((f.ears.errors[1].first == errc::permission_denied));
    BOOST_TEST((f.ears.errors[1].second ==
                diagnostics{.server = "server:6379", .server_message = "NOPERM x"}));
    f.acquire("a");
    f.release("b");
    f.poll();
    BOOST_TEST((f.acquired.at(0).first == errc::permission_denied));
    BOOST_TEST((*f.acquired[0].second.details ==
                diagnostics{.server = "server:6379", .key = "a", .server_message = "NOPERM x"}));
    BOOST_TEST((f.released.at(0).first == errc::permission_denied));
    BOOST_TEST(f.released[0].second.details->key == "b");

    f.up();
    BOOST_TEST(f.ears.connected == 1);
    f.up(); // a reply of a borrowed connection
    BOOST_TEST(f.ears.connected == 1);
    f.acquire("a");
    f.end(0, errc::store_unavailable);
    BOOST_TEST((f.acquired.at(1).first == errc::store_unavailable));
    // The earlier message is dropped.
    BOOST_TEST(f.acquired[1].second.details->server_message == "");
    f.down(errc::permission_denied);
    BOOST_TEST(f.ears.lost.size() == 4u);
    f.made->close();
    f.acquire("a");
    f.poll();
    BOOST_TEST((f.acquired.at(2).first == errc::store_unavailable));
}

BOOST_AUTO_TEST_CASE(unsent_request_fails_with_the_connection)
{
    pipeline_fixture f;
    f.up();
    f.acquire("sent");
    f.acquire("waits");
    BOOST_TEST(f.way->sent.size() == 1u);
    f.way->observer->on_down(errc::store_refused, "LOADING x");
    BOOST_TEST((f.acquired.at(0).first == errc::store_refused));
    BOOST_TEST(f.acquired[0].second.details->key == "waits");
    f.end(0, errc::outcome_unknown);
    BOOST_TEST((f.acquired.at(1).first == errc::outcome_unknown));
    f.up();
    BOOST_TEST(f.way->sent.size() == 1u); // the request is not sent over the next connection
}

BOOST_AUTO_TEST_CASE(holder_is_not_requested_again_after_a_denial)
{
    pipeline_fixture f;
    f.up();
    const auto asks = [&](std::string_view name, std::int64_t holder) {
        acquire_request request = take(name);
        request.needs_holder = true;
        f.acquire(request);
        const std::size_t index = f.way->sent.size() - 1;
        const auto said = words(*f.way->sent[index]).at(0);
        f.answer_all(index, {held(holder)});
        return said.size() == 13 ? said.back() : std::string("0"); // omitted unless requested
    };
    BOOST_TEST(asks("a", 0x5e0f8c21) == "1");
    BOOST_TEST(f.acquired.at(0).second.details->holder == "5e0f8c21");
    BOOST_TEST((f.acquired[0].second.remaining == 5s));
    BOOST_TEST(asks("b", 0) == "1"); // an external holder
    BOOST_TEST(!f.acquired.at(1).second.details);
    BOOST_TEST(asks("c", -1) == "1");
    BOOST_TEST(!f.acquired.at(2).second.details);
    BOOST_TEST(asks("d", 0) == "0");
    f.down(errc::store_unavailable);
    f.up();
    BOOST_TEST(asks("e", 0) == "1");
}

// If others wait, the script checks whether the holder uses the queue, requested or not.
BOOST_AUTO_TEST_CASE(queued_acquire_omits_the_holder_check_after_a_denial)
{
    pipeline_fixture f;
    f.up();
    const auto asks = [&](bool holder, std::int64_t told) {
        acquire_request request = take("a");
        request.again = true;
        request.needs_holder = holder;
        f.acquire(request);
        const std::size_t index = f.way->sent.size() - 1;
        const auto said = words(*f.way->sent[index]).at(0);
        BOOST_TEST(said.at(1) == of_queue().acquire.sha);
        f.answer_all(index, {numbers({0, 5000, -1, told, server_time})});
        BOOST_TEST((f.acquired.back().second.result == acquire_reply::outcome::held));
        return said.back();
    };
    BOOST_TEST(asks(false, 0) == "0");
    BOOST_TEST(asks(true, 0x5e0f8c21) == "1");
    BOOST_TEST(f.acquired.back().second.details->holder == "5e0f8c21");
    BOOST_TEST(asks(false, -1) == "0");
    BOOST_TEST(asks(false, 0) == "-");
    BOOST_TEST(asks(true, 0) == "-");
}

BOOST_AUTO_TEST_CASE(missing_script_is_sent_four_times)
{
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    std::size_t index = 0;
    for (; f.acquired.empty() && index < 10; ++index)
        f.answer_all(index, {noscript});
    BOOST_TEST(index == 4u);
    BOOST_TEST(f.way->sent.size() == 4u);
    BOOST_TEST(words(*f.way->sent[0]).at(0).at(0) == "EVALSHA");
    for (std::size_t i = 1; i < 4; ++i) {
        const auto again = words(*f.way->sent[i]).at(0);
        BOOST_TEST(again.at(0) == "EVAL");
        BOOST_TEST(again.at(1) == acquire_script().text);
        BOOST_TEST(again.at(3) == "a");
    }
    BOOST_TEST((f.acquired.at(0).first == errc::store_refused));
}

// Once in a batch: later commands find the script.
BOOST_AUTO_TEST_CASE(script_text_is_sent_once_per_batch)
{
    pipeline_fixture f;
    f.up();
    f.acquire("first"); // later requests share a batch
    f.acquire("a");
    f.release("b");
    f.acquire("b"); // not in one group with the next release
    f.release("c");
    f.poll();
    f.answer_all(0, {granted(7)});
    f.answer_all(1, {noscript, noscript, noscript, noscript});
    BOOST_TEST_REQUIRE(f.way->sent.size() == 3u);
    const auto again = words(*f.way->sent[2]);
    BOOST_TEST_REQUIRE(again.size() == 4u);
    BOOST_TEST(again[0].at(0) == "EVAL");
    BOOST_TEST(again[0].at(1) == acquire_script().text);
    BOOST_TEST(again[1].at(0) == "EVAL");
    BOOST_TEST(again[1].at(1) == release_script().text);
    BOOST_TEST(again[2].at(0) == "EVALSHA");
    BOOST_TEST(again[2].at(1) == acquire_script().sha);
    BOOST_TEST(again[3].at(0) == "EVALSHA");
    BOOST_TEST(again[3].at(1) == release_script().sha);
}

BOOST_AUTO_TEST_CASE(repeated_request_is_validated_like_the_original)
{
    pipeline_fixture f;
    f.up();
    acquire_request request = take("a");
    request.fences = 3;
    for (const auto& [fences, expected] :
         {std::pair(3, error_code()), std::pair(4, error_code(errc::outcome_unknown)),
          std::pair(0, error_code(errc::outcome_unknown))}) {
        for (const bool missing : {false, true}) {
            f.acquire(request);
            if (missing)
                f.answer_all(f.way->sent.size() - 1, {noscript});
            f.answer_all(f.way->sent.size() - 1, {granted(7, fences)});
            BOOST_TEST((f.acquired.back().first == expected));
        }
    }
}

// The release may have overtaken the acquire that it undoes, but not if that was answered before.
BOOST_AUTO_TEST_CASE(release_that_finds_nothing_is_repeated_only_behind_its_acquire)
{
    const std::string not_plain = ":-2\r\n"; // the slow path follows, behind the acquire
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    f.release("a"); // queued behind the acquire
    f.poll();
    f.answer_all(0, {noscript});
    f.answer_all(1, {not_plain});
    BOOST_TEST(f.released.empty());
    BOOST_TEST_REQUIRE(f.way->sent.size() == 4u);
    BOOST_TEST(words(*f.way->sent[3]).at(0).at(1) == of_queue().leave.sha);
    f.answer_all(2, {granted(7)});
    f.answer_all(3, {left(1)});
    BOOST_TEST(f.acquired.size() == 1u);
    BOOST_TEST(!f.released.at(0).first);
    BOOST_TEST((f.released[0].second.result == release_reply::outcome::freed));

    f.release("a");
    f.poll();
    f.answer_all(4, {not_plain});
    f.answer_all(5, {left(0)});
    BOOST_TEST(!f.released.at(1).first);
    BOOST_TEST((f.released[1].second.result == release_reply::outcome::not_owner));
    BOOST_TEST(f.way->sent.size() == 6u);
}

// The acquire that it undoes was not the first under its owner. The release freed a lock, and the
// acquire then takes it again.
BOOST_AUTO_TEST_CASE(repeated_release_keeps_the_result_of_its_first_reply)
{
    for (const bool found : {false, true}) {
        pipeline_fixture f;
        f.up();
        f.acquire("a");
        f.release("a"); // queued behind the acquire
        f.poll();
        f.answer_all(0, {noscript});
        f.answer_all(1, {":3\r\n"});
        BOOST_TEST(f.released.empty());
        BOOST_TEST_REQUIRE(f.way->sent.size() == 4u);
        BOOST_TEST(words(*f.way->sent[3]).at(0).at(1) == release_script().text);
        f.answer_all(2, {granted(7)});
        BOOST_TEST((f.acquired.at(0).second.result == acquire_reply::outcome::granted));
        f.answer_all(3, {found ? ":0\r\n" : ":-2\r\n"});
        if (!found)
            f.answer_all(4, {left(0)});
        BOOST_TEST(!f.released.at(0).first);
        BOOST_TEST((f.released[0].second.result == release_reply::outcome::freed));
        BOOST_TEST(f.released[0].second.receivers == 3u);
        BOOST_TEST(f.way->sent.size() == (found ? 4u : 5u));
    }
}

BOOST_AUTO_TEST_CASE(release_of_another_lock_is_not_repeated)
{
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    f.release("b");
    f.poll();
    f.answer_all(0, {noscript});
    f.answer_all(1, {":0\r\n"});
    BOOST_TEST((f.released.at(0).second.result == release_reply::outcome::freed));
    BOOST_TEST(f.way->sent.size() == 3u);
}

BOOST_AUTO_TEST_CASE(lost_repetition_of_a_release_has_an_unknown_outcome)
{
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    f.release("a");
    f.poll();
    f.answer_all(0, {noscript});
    f.answer_all(1, {":0\r\n"});
    BOOST_TEST_REQUIRE(f.way->sent.size() == 4u);
    f.end(2, errc::outcome_unknown);
    f.end(3, errc::store_unavailable); // the repetition was not sent, but the original was
    BOOST_TEST((f.released.at(0).first == errc::outcome_unknown));

    // A release that cannot be repeated has an unknown outcome, too.
    f.acquire("b");
    f.release("b");
    f.poll();
    f.answer_all(4, {noscript});
    f.down(errc::store_unavailable);
    f.answer_all(5, {":0\r\n"});
    BOOST_TEST((f.released.at(1).first == errc::outcome_unknown));
}

// FLUSHALL: the fence is too small, and the slow path follows behind the release.
BOOST_AUTO_TEST_CASE(release_is_repeated_behind_an_acquire_on_the_slow_path)
{
    native_server f;
    f.acquire("a");
    f.release("a");
    f.poll();
    f.answer_all(1, {"_\r\n", ":1\r\n"});
    f.answer_all(2, {":1\r\n"});
    BOOST_TEST(f.released.empty());
    BOOST_TEST_REQUIRE(f.way->sent.size() == 5u);
    f.answer_all(3, {numbers({1, 2000, 0, 1, server_time})});
    BOOST_TEST((f.acquired.at(0).second.result == acquire_reply::outcome::granted));
    f.answer_all(4, {":1\r\n"});
    BOOST_TEST((f.released.at(0).second.result == release_reply::outcome::freed));
}

// The command that frees a lock without a script is repeated unchanged.
BOOST_AUTO_TEST_CASE(release_without_a_script_is_repeated_unchanged)
{
    const std::string unknown = "-ERR unknown command\r\n", none = ":0\r\n";
    for (const bool delifeq : {false, true}) {
        pipeline_fixture f(std::make_unique<native_commands>(nullptr, false));
        f.up(server_time);
        f.answer_all(0, {"$4\r\nid=3\r\n", delifeq ? none : unknown, delifeq ? unknown : none,
                         numbers({1000})});
        f.acquire("a");
        f.release("a");
        f.poll();
        const auto first = words(*f.way->sent.at(2)).at(0);
        BOOST_TEST(first.at(0) == (delifeq ? "DELIFEQ" : "DELEX"));
        f.answer_all(1, {"_\r\n", ":1\r\n"}); // the fence is too small: the slow path follows
        f.answer_all(2, {":1\r\n"});
        BOOST_TEST_REQUIRE(f.way->sent.size() == 5u);
        BOOST_TEST(words(*f.way->sent[4]).at(0) == first, boost::test_tools::per_element());
        f.answer_all(3, {numbers({1, 2000, 0, 1, server_time})});
        f.answer_all(4, {":1\r\n"});
        BOOST_TEST_REQUIRE(f.released.size() == 1u);
        BOOST_TEST((f.released[0].second.result == release_reply::outcome::freed));
    }
}

BOOST_AUTO_TEST_CASE(release_is_repeated_behind_the_release_that_enqueues_its_owner)
{
    native_server f;
    f.acquire("a");
    f.poll();
    f.answer_all(1, {"$6\r\nlh:b:1\r\n", ":1001\r\n"}); // from now on the slow path is used
    acquire_request next = take("a");
    next.owner = "a:2";
    std::vector<release_reply::outcome> ended;
    const auto release = [&](std::string_view owner, const acquire_request* joins) {
        f.made->release({.name = "a", .owner = owner, .entry = {}, .next = joins},
                        [&](error_code failed, const release_reply& reply) {
                            BOOST_TEST(!failed);
                            ended.push_back(reply.result);
                        });
        f.poll();
    };
    release("a:1", &next);
    release("a:2", nullptr);
    f.answer_all(2, {noscript});
    f.answer_all(3, {numbers({0, 0, 0, 0, server_time})});
    BOOST_TEST(ended.empty());
    BOOST_TEST_REQUIRE(f.way->sent.size() == 6u);
    f.answer_all(4, {numbers({1, 1, 2000, 1, server_time})});
    f.answer_all(5, {numbers({1, 0, 0, 0, server_time})});
    using outcome = release_reply::outcome;
    BOOST_TEST((ended == std::vector{outcome::freed, outcome::freed}));
}

BOOST_AUTO_TEST_CASE(unanswered_batches_are_abandoned_each_at_its_timeout)
{
    pipeline_fixture f;
    const auto start = f.time.now();
    const auto at = [&](clock::duration time) {
        f.time.set(start + time);
        f.poll();
        return f.way->abandoned.size();
    };
    f.up();
    f.acquire("a");
    at(1s);
    f.acquire("b");
    f.poll();
    at(2s);
    f.acquire("c");
    f.acquire("d");
    f.poll();
    BOOST_TEST_REQUIRE(f.way->sent.size() == 3u);
    BOOST_TEST(at(5s - 1ns) == 0u);
    BOOST_TEST(at(5s) == 1u);
    f.end(0, errc::outcome_unknown);
    BOOST_TEST(at(6s - 1ns) == 1u);
    BOOST_TEST(at(6s) == 2u);
    f.end(1, errc::outcome_unknown);
    BOOST_TEST(at(7s) == 3u);
    BOOST_TEST(at(60s) == 3u); // once
    f.end(2, errc::outcome_unknown);
    BOOST_TEST((f.way->abandoned == f.way->sent));
    BOOST_TEST(f.acquired.size() == 4u);

    // After a pause of the process, all are late at once.
    f.acquire("a");
    f.acquire("b");
    f.poll();
    BOOST_TEST(at(120s) == 5u);
    f.end(3, errc::outcome_unknown);
    f.end(4, errc::outcome_unknown);
    // A batch that is answered in time is not abandoned.
    f.acquire("a");
    at(124s);
    f.answer_all(5, {granted(7)});
    f.acquire("b");
    BOOST_TEST(at(125s) == 5u);
    BOOST_TEST(at(129s) == 6u);
}

BOOST_AUTO_TEST_CASE(at_most_eight_batches_are_outstanding)
{
    pipeline_fixture f;
    f.up();
    for (int i = 0; i < 10; ++i) {
        f.acquire("a");
        f.poll();
    }
    BOOST_TEST(f.way->sent.size() == 8u);
    f.answer_all(0, {granted(1)});
    BOOST_TEST_REQUIRE(f.way->sent.size() == 9u);
    BOOST_TEST(words(*f.way->sent[8]).size() == 2u); // the waiting requests share a batch
}

// A caller continues with its reply while the server works on the rest.
BOOST_AUTO_TEST_CASE(reply_is_delivered_before_the_end_of_its_batch)
{
    pipeline_fixture f;
    f.up();
    f.acquire("first");
    for (int i = 0; i < 4; ++i)
        f.acquire("a");
    f.poll();
    BOOST_TEST_REQUIRE(f.way->sent.size() == 2u);
    f.answer(1, {granted(1)});
    BOOST_TEST(f.acquired.size() == 1u);
    f.answer(1, {granted(2), granted(3)});
    BOOST_TEST(f.acquired.size() == 3u);
    f.answer(1, {granted(4)});
    f.end(1);
    BOOST_TEST(f.acquired.size() == 4u);
}

BOOST_AUTO_TEST_CASE(replies_are_delivered_in_order_of_the_requests)
{
    pipeline_fixture f;
    f.up();
    f.acquire("first");
    f.acquire("second");
    f.poll();
    f.answer(0, {granted(1)});
    f.answer(1, {granted(2)});
    f.end(1); // delivered before the end of the first batch
    BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
    BOOST_TEST(f.acquired[0].second.first_fence == 1u);
    BOOST_TEST(f.acquired[1].second.first_fence == 2u);
}

BOOST_AUTO_TEST_CASE(request_without_a_reply_fails_with_the_error_of_its_batch)
{
    for (const errc why : {errc::store_unavailable, errc::outcome_unknown}) {
        pipeline_fixture f;
        f.up();
        f.acquire("first");
        f.acquire("a");
        f.acquire("b");
        f.poll();
        f.answer(1, {granted(2)});
        f.end(1, why);
        BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
        BOOST_TEST(!f.acquired[0].first);
        BOOST_TEST((f.acquired[1].first == why));
    }
}

BOOST_AUTO_TEST_CASE(failure_without_a_message_drops_the_earlier_message)
{
    pipeline_fixture f;
    const auto words_of_refusal = [&] {
        f.acquire("a");
        f.poll();
        const auto& details = f.acquired.back().second.details;
        return details ? details->server_message : std::string();
    };
    f.down(errc::store_refused, "LOADING Redis is loading the dataset in memory");
    BOOST_TEST(words_of_refusal() == "LOADING Redis is loading the dataset in memory");
    f.down(errc::store_unavailable);
    BOOST_TEST(words_of_refusal() == "");
    f.down(errc::store_refused, "MASTERDOWN x");
    f.up();
    f.down(errc::store_unavailable);
    BOOST_TEST(words_of_refusal() == "");
}

BOOST_AUTO_TEST_CASE(rejected_request_reports_message_and_key)
{
    const std::string words = "WRONGTYPE the key a holds string, a lock is a hash";
    pipeline_fixture f;
    f.up();
    f.acquire("a");
    f.answer_all(0, {'-' + words + "\r\n"});
    BOOST_TEST((f.acquired.at(0).first == errc::wrong_type));
    const diagnostics expected{.server = "server:6379", .key = "a", .server_message = words};
    BOOST_TEST((*f.acquired[0].second.details == expected));
    BOOST_TEST_REQUIRE(f.ears.errors.size() == 1u);
    BOOST_TEST((f.ears.errors[0].first == errc::wrong_type));
    BOOST_TEST((f.ears.errors[0].second == expected));
    BOOST_TEST(f.way->read_only == 0);
    f.release("a");
    f.answer_all(1, {"-READONLY You can't write against a read only replica.\r\n"});
    BOOST_TEST((f.released.at(0).first == errc::store_refused));
    BOOST_TEST(f.released[0].second.details->key == "a");
    BOOST_TEST(f.way->read_only == 1);
}

BOOST_AUTO_TEST_CASE(receivers_are_known_only_with_publish_and_subscription)
{
    pipeline_fixture f;
    bool known = true;
    f.made->knows_receivers = [&] { return known; };
    f.up();
    const auto told = [&](std::int64_t receivers) {
        f.release("a");
        f.answer_all(f.way->sent.size() - 1, {":" + std::to_string(receivers) + "\r\n"});
        const release_reply& said = f.released.back().second;
        BOOST_TEST((said.result == release_reply::outcome::freed));
        return std::pair(said.receivers_known, said.receivers);
    };
    BOOST_TEST((told(0) == std::pair(true, std::uint64_t(0))));
    BOOST_TEST((told(3) == std::pair(true, std::uint64_t(3))));
    BOOST_TEST((told(-1) == std::pair(false, std::uint64_t(0)))); // no right to publish
    known = false;
    BOOST_TEST(!told(0).first);
    BOOST_TEST(!told(3).first);
}

namespace {

struct renewed
{
    explicit renewed(pipeline_fixture& f, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i)
            names.push_back("n" + std::to_string(i));
        std::vector<renewal> all;
        for (const std::string& each : names)
            all.push_back({each, "a:1", 10s, {}});
        f.made->renew(all, [this](error_code failed, renew_reply said) {
            ++calls;
            code = failed;
            reply = std::move(said);
        });
    }

    std::vector<std::string> names;
    int calls = 0;
    error_code code;
    renew_reply reply;
};

std::string results(std::size_t count, std::int64_t each)
{
    std::string text = '*' + std::to_string(count) + "\r\n";
    for (; count > 0; --count)
        text += ':' + std::to_string(each) + "\r\n";
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(many_renewals_become_several_commands_and_one_reply)
{
    using result = renewal_result;
    pipeline_fixture f;
    f.up();
    renewed all(f, 120);
    BOOST_TEST_REQUIRE(f.way->sent.size() == 1u);
    const auto asked = words(*f.way->sent[0]);
    BOOST_TEST_REQUIRE(asked.size() == 3u);
    BOOST_TEST(asked[1].at(2) == "50");
    BOOST_TEST(asked[1].at(3) == "n50");
    BOOST_TEST(asked[2].at(2) == "20");
    f.answer(0, {results(50, 1), results(50, 0)});
    BOOST_TEST(all.calls == 0);
    f.answer(0, {results(20, -1)});
    f.end(0);
    BOOST_TEST(all.calls == 1);
    BOOST_TEST(!all.code);
    for (std::size_t i = 0; i < 120; ++i)
        BOOST_TEST((all.reply.results.at(i) == (i < 50    ? result::renewed
                                                : i < 100 ? result::gone
                                                          : result::failed)));
}

BOOST_AUTO_TEST_CASE(renewals_use_the_fewest_commands)
{
    for (const std::size_t count : {1u, 49u, 50u, 51u, 99u, 100u, 101u, 150u}) {
        pipeline_fixture f;
        f.up();
        renewed all(f, count);
        const auto asked = words(*f.way->sent.at(0));
        BOOST_TEST(asked.size() == (count + 49) / 50);
        std::size_t named = 0;
        for (const auto& each : asked)
            named += static_cast<std::size_t>(std::stoul(each.at(2)));
        BOOST_TEST(named == count);
    }
}

BOOST_AUTO_TEST_CASE(failed_renewal_command_is_reported_beside_successful_ones)
{
    using result = renewal_result;
    pipeline_fixture f;
    f.up();
    renewed some(f, 60);
    f.answer_all(0, {"-OOM x\r\n", results(10, 1)});
    BOOST_TEST(some.calls == 1);
    BOOST_TEST(!some.code);
    BOOST_TEST((some.reply.results.at(49) == result::failed));
    BOOST_TEST((some.reply.results.at(50) == result::renewed));
    BOOST_TEST(some.reply.details->server_message == "OOM x");
    BOOST_TEST(some.reply.details->key == "n0");

    renewed none(f, 60);
    f.answer_all(1, {"-OOM x\r\n", "-OOM x\r\n"});
    BOOST_TEST(none.calls == 1);
    BOOST_TEST((none.code == errc::store_refused));
    BOOST_TEST(none.reply.details->server_message == "OOM x");
}

BOOST_AUTO_TEST_SUITE_END()
