// Connections of the Redis store, to a server that the test simulates: when they are restored,
// which events affect them, and the reports of their ends.
#include <boost/test/unit_test.hpp>

#include "redis/commands/redisson_commands.hpp"
#include "redis/connection/environment.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/pipeline/owned_transport.hpp"
#include "redis/pipeline/shared_transport.hpp"
#include "redis/wakeups/grant_channel.hpp"
#include "redis/wakeups/subscriptions.hpp"
#include "support/manual_time.hpp"
#include "support/moved_time.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/error.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace std::chrono_literals;
using boost::redis::operation;

void feed(boost::redis::any_adapter& adapter, std::string_view text)
{
    boost::redis::resp3::parser parser;
    error_code failed;
    BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, text, adapter, failed));
    BOOST_TEST_REQUIRE(!failed);
}

/// The connection as the test sees it, with the actions of the server.
struct server_side
{
    struct asked
    {
        std::string text;
        boost::redis::any_adapter adapter;
        request_channel::executed done;
    };

    explicit server_side(asio::any_io_executor strand) : where(std::move(strand)) {}

    /// Ends a request, later, with or without a reply.
    void finish(std::size_t index, std::initializer_list<std::string_view> answers,
                error_code failed = {})
    {
        asked& each = requests.at(index);
        BOOST_TEST_REQUIRE(static_cast<bool>(each.done));
        for (const std::string_view answer : answers)
            feed(each.adapter, answer);
        asio::post(where, [done = std::move(each.done), failed]() mutable {
            std::move(done)(failed, std::size_t(0));
        });
    }

    void fail_requests(error_code why)
    {
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (requests[i].done)
                finish(i, {}, why);
    }

    /// The connection ends.
    void end(error_code why = asio::error::connection_reset)
    {
        BOOST_TEST_REQUIRE(static_cast<bool>(run_done));
        asio::post(where, [done = std::move(run_done), why]() mutable { std::move(done)(why); });
    }

    /// Sends a message without a request. `heard`: it is delivered, later.
    void push(std::string_view text, bool heard = true)
    {
        feed(*pushes, text);
        if (heard && receive_done)
            asio::post(where, [done = std::move(receive_done)]() mutable {
                std::move(done)(error_code());
            });
    }

    [[nodiscard]] bool running() const { return static_cast<bool>(run_done); }

    asio::any_io_executor where;
    std::vector<asked> requests;
    std::size_t written = 0;
    connection::complaint complain;
    connection::ended run_done;
    connection::ended receive_done;
    std::optional<boost::redis::any_adapter> pushes;
    boost::redis::config settings; ///< The settings of the last run.
    int runs = 0;
    int cancels = 0;   ///< The number of cancellations of any kind.
    bool deaf = false; ///< Requests are not ended with their connection.
};

class given_connection final : public connection
{
public:
    explicit given_connection(std::shared_ptr<server_side> of) : side_(std::move(of)) {}

    void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                 asio::cancellation_slot slot, executed done) override
    {
        side_->requests.push_back(
            {std::string(request.payload()), std::move(adapter), std::move(done)});
        if (slot.is_connected())
            slot.assign([side = side_, index = side_->requests.size() - 1](auto) {
                if (side->requests[index].done)
                    side->finish(index, {}, asio::error::operation_aborted);
            });
    }
    std::size_t commands_sent() const override { return side_->written; }
    void run(const boost::redis::config& told, ended done) override
    {
        ++side_->runs;
        side_->settings = told;
        side_->run_done = std::move(done);
    }
    void set_receive_response(boost::redis::any_adapter adapter) override
    {
        side_->pushes = std::move(adapter);
    }
    void receive(ended done) override { side_->receive_done = std::move(done); }
    void cancel(operation what) override
    {
        ++side_->cancels;
        if (what == operation::run && side_->run_done)
            side_->end(asio::error::operation_aborted);
        if (what == operation::exec && !side_->deaf)
            side_->fail_requests(asio::error::operation_aborted);
        if (what == operation::receive && side_->receive_done)
            asio::post(side_->where, [done = std::move(side_->receive_done)]() mutable {
                std::move(done)(asio::error::operation_aborted);
            });
    }

private:
    std::shared_ptr<server_side> side_;
};

struct given_environment final : environment
{
    given_environment(std::shared_ptr<server_side> of, test::manual_time& by)
        : side(std::move(of)), time(by)
    {}

    std::unique_ptr<connection> make_connection(const asio::any_io_executor&, const redis_config&,
                                                connection::complaint told) override
    {
        side->complain = std::move(told);
        return std::make_unique<given_connection>(side);
    }
    std::unique_ptr<leasehold::detail::time_source> make_time() override
    {
        return time.make_source();
    }

    std::shared_ptr<server_side> side;
    test::manual_time& time;
};

constexpr std::string_view served[] = {"%1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n",
                                       "$1\r\na\r\n",
                                       "$1\r\na\r\n",
                                       "$1\r\na\r\n",
                                       "$1\r\na\r\n",
                                       "$1\r\na\r\n",
                                       "$1\r\na\r\n",
                                       ":1\r\n",
                                       "*0\r\n",
                                       "*2\r\n$10\r\n1700000000\r\n$1\r\n7\r\n"};

struct fixture
{
    void poll() { test::run_due(context, time); }

    void advance(clock::duration by)
    {
        test::move_time(time, by, [this] { poll(); });
    }

    /// The server answers the first request of a new connection, which has this index.
    void serve(std::size_t index)
    {
        server_side::asked& each = side->requests.at(index);
        for (const std::string_view answer : served)
            feed(each.adapter, answer);
        side->finish(index, {});
    }

    asio::io_context context;
    asio::any_io_executor strand = asio::make_strand(context);
    test::manual_time time;
    std::shared_ptr<server_side> side = std::make_shared<server_side>(strand);
    std::shared_ptr<given_environment> from = std::make_shared<given_environment>(side, time);
    redis_config settings{"redis://server?reconnect=100"};
};

struct recorder final : transport_observer
{
    void on_up(std::optional<std::int64_t> server_us) override { up.push_back(server_us); }
    void on_down(error_code why, std::string_view said) override { down.emplace_back(why, said); }

    std::vector<std::optional<std::int64_t>> up;
    std::vector<std::pair<error_code, std::string>> down;
};

struct batch_recorder final : batch_owner
{
    void on_answers(const std::shared_ptr<batch>&) override {}
    void on_end(const std::shared_ptr<batch>& sent, error_code unanswered) override
    {
        sent->owner.reset();
        ended.push_back(unanswered);
    }

    std::vector<error_code> ended;
};

/// A transport of either kind.
struct transport_fixture : fixture
{
    ~transport_fixture()
    {
        if (way)
            way->close();
        side->deaf = false;
        if (side->running())
            side->end();
        side->fail_requests(asio::error::operation_aborted);
        poll();
        // The handlers that the context of a connection destroys when it ends.
        *side = server_side(strand);
        time.make_source()->close();
    }

    void open(std::shared_ptr<transport> made)
    {
        way = std::move(made);
        way->open(strand, poster, redisson_script_set(), seen);
        poll();
    }

    std::shared_ptr<batch> send()
    {
        auto sent = std::make_shared<batch>();
        redisson_commands keys(24h);
        sent->add(store::release_handler([](error_code, const release_reply&) {}),
                  [&](boost::redis::request& to) {
                      return keys.release({.name = "a", .owner = "b", .entry = {}}, 0, to);
                  });
        sent->start(owner, poster);
        way->send(sent);
        poll();
        return sent;
    }

    std::shared_ptr<detail::context_poster> poster = detail::context_poster::make(strand);
    std::shared_ptr<batch_recorder> owner = std::make_shared<batch_recorder>();
    recorder seen;
    std::shared_ptr<transport> way;
};

struct owned_fixture : transport_fixture
{
    explicit owned_fixture(std::string_view url) : transport_fixture()
    {
        settings = redis_config(url);
        open(make_owned_transport(settings, from));
    }
    owned_fixture() { open(make_owned_transport(settings, from)); }
};

/// The connection of an application.
struct shared_fixture : transport_fixture
{
    shared_fixture()
    {
        open(make_shared_transport(std::make_shared<given_connection>(side), strand, settings,
                                   time.make_source()));
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(own_connection)

BOOST_AUTO_TEST_CASE(own_connection_is_up_after_the_first_replies)
{
    owned_fixture f;
    BOOST_TEST(f.side->runs == 1);
    BOOST_TEST_REQUIRE(f.side->requests.size() == 1u);
    BOOST_TEST(f.seen.up.empty());
    f.serve(0);
    f.poll();
    BOOST_TEST_REQUIRE(f.seen.up.size() == 1u);
    BOOST_TEST((f.seen.up[0] == 1'700'000'000'000'007));
    BOOST_TEST(f.seen.down.empty());
}

namespace {

/// The first commands, as words.
std::string words_of(const boost::redis::request& first)
{
    std::string all;
    std::string_view text = first.payload();
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        if (text.front() != '*' && text.front() != '$')
            all.append(all.empty() ? "" : " ").append(text.substr(0, end));
        text.remove_prefix(end + 2);
    }
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(own_connection_follows_the_url)
{
    using milliseconds = std::chrono::milliseconds;
    owned_fixture plain("redis://:secret@server:7000/3?timeout=700&health_check=300");
    const boost::redis::config& told = plain.side->settings;
    BOOST_TEST(told.addr.host == "server");
    BOOST_TEST(told.addr.port == "7000");
    BOOST_TEST(told.unix_socket == "");
    BOOST_TEST(!told.use_ssl);
    BOOST_TEST(words_of(told.setup) == "HELLO 3 AUTH default secret SELECT 3");
    BOOST_TEST((told.resolve_timeout == milliseconds(700)));
    BOOST_TEST((told.connect_timeout == milliseconds(700)));
    BOOST_TEST((told.health_check_interval == milliseconds(300)));
    BOOST_TEST((told.reconnect_wait_interval == milliseconds(0))); // each run is one connection
    BOOST_TEST(plain.way->server() == "server:7000");

    owned_fixture local("unix:///run/redis.sock");
    BOOST_TEST(local.side->settings.unix_socket == "/run/redis.sock");
    BOOST_TEST(words_of(local.side->settings.setup) == "HELLO 3");
    BOOST_TEST(local.way->server() == "/run/redis.sock");

    owned_fixture sentinels("redis+sentinel://me:mine@one,two:7001/master?timeout=700&"
                            "sentinel_user=you&sentinel_password=yours");
    const auto& asked = sentinels.side->settings.sentinel;
    BOOST_TEST(asked.master_name == "master");
    BOOST_TEST_REQUIRE(asked.addresses.size() == 2u);
    BOOST_TEST(asked.addresses[0].host == "one");
    BOOST_TEST(asked.addresses[0].port == "26379");
    BOOST_TEST(asked.addresses[1].port == "7001");
    BOOST_TEST(words_of(asked.setup) == "HELLO 3 AUTH you yours");
    BOOST_TEST((asked.connect_timeout == milliseconds(700)));
    BOOST_TEST((asked.request_timeout == milliseconds(700)));
    BOOST_TEST(words_of(sentinels.side->settings.setup) == "HELLO 3 AUTH me mine");
    BOOST_TEST(sentinels.way->server() == "master master");

    owned_fixture ipv6("redis://[::1]");
    BOOST_TEST(ipv6.side->settings.addr.host == "::1");
    BOOST_TEST(ipv6.way->server() == "[::1]:6379");
}

BOOST_AUTO_TEST_CASE(own_connection_is_restored_after_a_pause)
{
    owned_fixture f;
    for (int i = 1; i <= 20; ++i) {
        BOOST_TEST_REQUIRE(f.side->runs == i);
        f.side->end();
        f.advance(49ms);
        BOOST_TEST(f.side->runs == i);
        f.advance(101ms);
    }
    BOOST_TEST(f.seen.down.size() == 20u);
    BOOST_TEST(f.seen.up.empty());
}

// The reply was on its way when the connection ended, or arrives over the next one.
BOOST_AUTO_TEST_CASE(late_reply_of_an_ended_connection_is_ignored)
{
    for (const bool much_later : {false, true}) {
        owned_fixture f;
        f.side->deaf = true;
        f.side->end();
        if (much_later) {
            f.advance(150ms);
            BOOST_TEST(f.side->runs == 2);
        }
        f.serve(0);
        f.poll();
        BOOST_TEST(f.seen.up.empty());
        BOOST_TEST(f.seen.down.size() == 1u);
        f.advance(150ms);
        BOOST_TEST_REQUIRE(f.side->requests.size() == 2u);
        f.serve(1);
        f.poll();
        BOOST_TEST(f.seen.up.size() == 1u);
    }
}

// Otherwise the request would be sent over the next connection, and its reported result would be
// wrong.
BOOST_AUTO_TEST_CASE(outstanding_request_ends_with_its_connection)
{
    owned_fixture f;
    f.serve(0);
    f.poll();
    f.send();
    f.side->end();
    f.poll();
    BOOST_TEST((f.owner->ended == std::vector<error_code>{errc::store_unavailable}));
}

// A request that was sent may be executed, whatever happened to the connection.
BOOST_AUTO_TEST_CASE(written_request_without_a_reply_has_an_unknown_outcome)
{
    owned_fixture f;
    f.send();
    f.side->finish(1, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST((f.owner->ended.back() == errc::store_unavailable));
    f.send();
    ++f.side->written;
    f.side->finish(2, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST((f.owner->ended.back() == errc::outcome_unknown));
    f.send();
    f.side->finish(3, {":0\r\n"});
    f.poll();
    BOOST_TEST(!f.owner->ended.back());
    const auto late = f.send();
    f.way->abandon(late);
    f.poll();
    BOOST_TEST((f.owner->ended.back() == errc::store_unavailable));
}

BOOST_AUTO_TEST_CASE(first_reason_to_close_a_connection_is_reported)
{
    owned_fixture f;
    f.side->finish(0, {"-LOADING x\r\n", "-LOADING x\r\n", "-LOADING x\r\n", "-LOADING x\r\n",
                       "-LOADING x\r\n", "-LOADING x\r\n", "-LOADING x\r\n"});
    f.poll();
    BOOST_TEST_REQUIRE(f.seen.down.size() == 1u);
    BOOST_TEST(
        (f.seen.down[0] == std::pair(error_code(errc::store_refused), std::string("LOADING x"))));
    f.advance(150ms);
    f.serve(1);
    f.poll();
    f.way->on_read_only();
    f.way->on_read_only();
    f.poll();
    BOOST_TEST_REQUIRE(f.seen.down.size() == 2u);
    BOOST_TEST(
        (f.seen.down[1] == std::pair(error_code(errc::store_refused), std::string("READONLY"))));

    // While the connection is being closed for one reason, another occurs.
    f.advance(150ms);
    f.side->finish(2, {"-LOADING y\r\n", "-LOADING y\r\n", "-LOADING y\r\n", "-LOADING y\r\n",
                       "-LOADING y\r\n", "-LOADING y\r\n", "-LOADING y\r\n"});
    asio::post(f.strand, [&] { f.way->on_read_only(); });
    f.poll();
    BOOST_TEST_REQUIRE(f.seen.down.size() == 3u);
    BOOST_TEST(f.seen.down[2].second == "LOADING y");
    f.way->on_read_only(); // there is no connection
    f.advance(150ms);
    f.side->end();
    f.poll();
    BOOST_TEST(f.seen.down.back().second == "");
}

// Sentinels may be slow, so the next attempt gives each more time.
BOOST_AUTO_TEST_CASE(each_sentinel_has_more_time_after_an_attempt_without_an_answer)
{
    using milliseconds = std::chrono::milliseconds;
    const auto times = [](const std::string& hosts, const std::string& timeout) {
        owned_fixture f(("redis+sentinel://" + hosts + "/master?timeout=" + timeout).c_str());
        std::vector<long> all;
        const auto next = [&](error_code ended) {
            const auto& sentinel = f.side->settings.sentinel;
            all.push_back(static_cast<long>(sentinel.request_timeout / milliseconds(1)));
            BOOST_TEST((sentinel.connect_timeout == sentinel.request_timeout));
            BOOST_TEST((sentinel.resolve_timeout == sentinel.request_timeout));
            BOOST_TEST((sentinel.ssl_handshake_timeout == sentinel.request_timeout));
            BOOST_TEST((f.side->settings.connect_timeout == milliseconds(std::stoi(timeout))));
            f.side->end(ended);
            f.advance(milliseconds(1'000));
        };
        for (int i = 0; i < 4; ++i)
            next(boost::redis::error::sentinel_resolve_failed);
        next(asio::error::connection_refused); // of the master
        next(asio::error::eof);
        return all;
    };
    using list = std::vector<long>;
    BOOST_TEST(times("a,b,c", "3000") == (list{450, 900, 1800, 3000, 3000, 450}));
    BOOST_TEST(times("a,b,c,d,e", "5000") == (list{225, 450, 900, 1800, 3600, 225}));
    BOOST_TEST(times("a,b", "500") == (list{500, 500, 500, 500, 500, 500}));
    BOOST_TEST(times("a", "3000") == (list{3000, 3000, 3000, 3000, 3000, 3000}));
}

BOOST_AUTO_TEST_CASE(failed_attempt_is_reported_with_the_message_of_the_server)
{
    owned_fixture f;
    f.side->complain("Setup request execution: WRONGPASS invalid username-password pair");
    f.side->end(boost::redis::error::resp3_hello);
    f.advance(150ms);
    BOOST_TEST_REQUIRE(f.seen.down.size() == 1u);
    BOOST_TEST(
        (f.seen.down[0] == std::pair(error_code(errc::permission_denied),
                                     std::string("WRONGPASS invalid username-password pair"))));
    f.side->end(boost::redis::error::resp3_hello);
    f.advance(150ms);
    BOOST_TEST_REQUIRE(f.seen.down.size() == 2u);
    BOOST_TEST((f.seen.down[1] == std::pair(error_code(errc::store_refused), std::string())));
    f.side->complain("Connect: Connection refused");
    f.side->end(asio::error::connection_refused);
    f.advance(150ms);
    BOOST_TEST(
        (f.seen.down[2] == std::pair(error_code(asio::error::connection_refused), std::string())));
}

// A server that rejects a client may close the connection, or the connection may end in another
// way, before the reply is read. A rejected caller must not wait for an available server.
BOOST_AUTO_TEST_CASE(permanent_rejection_is_reported_however_the_attempt_ends)
{
    const error_code ends[] = {boost::redis::error::resp3_hello, asio::error::eof,
                               asio::error::connection_reset, boost::redis::error::pong_timeout,
                               error_code()};
    const std::pair<std::string, errc> refusals[] = {
        {"WRONGPASS invalid username-password pair", errc::permission_denied},
        {"NOAUTH Authentication required.", errc::permission_denied},
        {"ERR DB index is out of range", errc::invalid_option}};
    owned_fixture f;
    for (const error_code& end : ends) {
        for (const auto& [said, meaning] : refusals) {
            f.side->complain("Setup request execution: " + said);
            f.side->end(end);
            f.advance(150ms);
            BOOST_TEST((f.seen.down.back() == std::pair(error_code(meaning), said)),
                       end.message() << ", " << said);
        }
        // A temporary rejection: the end of the connection is the reason, unless there is no other.
        f.side->complain("Setup request execution: LOADING x");
        f.side->end(end);
        f.advance(150ms);
        const error_code reason = end == boost::redis::error::resp3_hello ? errc::store_refused
                                  : end                                   ? end
                                        : error_code(errc::store_unavailable);
        BOOST_TEST((f.seen.down.back() == std::pair(reason, std::string("LOADING x"))),
                   end.message());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(application_connection)

BOOST_AUTO_TEST_CASE(application_connection_is_checked_until_it_serves)
{
    shared_fixture f;
    BOOST_TEST_REQUIRE(f.side->requests.size() == 1u);
    f.side->finish(0, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST(f.seen.up.empty());
    BOOST_TEST_REQUIRE(f.seen.down.size() == 1u);
    BOOST_TEST((f.seen.down[0].first == errc::store_unavailable));
    f.advance(150ms);
    BOOST_TEST_REQUIRE(f.side->requests.size() == 2u);
    for (std::size_t i = 0; i < std::size(served); ++i)
        feed(f.side->requests[1].adapter, "-LOADING x\r\n");
    f.side->finish(1, {});
    f.poll();
    BOOST_TEST((f.seen.down.at(1) ==
                std::pair(error_code(errc::store_refused), std::string("LOADING x"))));
    f.advance(150ms);
    f.serve(2);
    f.poll();
    BOOST_TEST_REQUIRE(f.seen.up.size() == 1u);
    BOOST_TEST((f.seen.up[0] == 1'700'000'000'000'007));
}

// The application's connection reconnects by itself. The reply to the check shows it.
BOOST_AUTO_TEST_CASE(application_connection_is_checked_again_after_a_lost_request)
{
    shared_fixture f;
    f.serve(0);
    f.poll();
    f.send();
    f.send();
    BOOST_TEST_REQUIRE(f.side->requests.size() == 3u);
    f.side->finish(1, {}, asio::error::connection_reset);
    f.side->finish(2, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST_REQUIRE(!f.seen.down.empty());
    for (const auto& each : f.seen.down)
        BOOST_TEST((each == std::pair(error_code(errc::store_unavailable), std::string())));
    BOOST_TEST_REQUIRE(f.side->requests.size() == 4u); // once
    f.serve(3);
    f.poll();
    BOOST_TEST(f.seen.up.size() == 2u);
}

BOOST_AUTO_TEST_CASE(written_request_on_an_application_connection_has_an_unknown_outcome)
{
    shared_fixture f;
    f.serve(0);
    f.poll();
    f.send();
    f.side->finish(1, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST((f.owner->ended.back() == errc::store_unavailable));
    f.serve(2);
    f.poll();
    f.send();
    ++f.side->written;
    f.side->finish(3, {}, asio::error::connection_reset);
    f.poll();
    BOOST_TEST((f.owner->ended.back() == errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(close_cancels_all_requests_on_the_application_connection)
{
    shared_fixture f;
    f.way->close();
    f.poll();
    BOOST_TEST(!f.side->requests.at(0).done); // the readiness check

    shared_fixture busy;
    busy.serve(0);
    busy.poll();
    busy.send();
    busy.send();
    busy.way->close();
    busy.poll();
    BOOST_TEST(!busy.side->requests.at(1).done);
    BOOST_TEST(!busy.side->requests.at(2).done);
    BOOST_TEST(busy.owner->ended.size() == 2u);
}

// The context of the request has ended, and with it the handlers.
BOOST_AUTO_TEST_CASE(handler_destroyed_uncalled_has_an_unknown_outcome)
{
    shared_fixture f;
    f.serve(0);
    f.poll();
    f.send();
    f.side->requests.at(1).done = {};
    f.poll();
    BOOST_TEST((f.owner->ended == std::vector<error_code>{errc::outcome_unknown}));
}

// The context is ending: the connection is not used any more, whatever happens.
BOOST_AUTO_TEST_CASE(dropped_connection_reports_and_sends_nothing)
{
    for (const bool up : {false, true}) {
        owned_fixture f;
        if (up) {
            f.serve(0);
            f.poll();
        }
        const std::size_t told = f.seen.up.size() + f.seen.down.size();
        f.way->drop();
        f.way->on_read_only();
        f.way->begin_again(errc::store_refused, "again");
        f.way->drop();
        f.way->close();
        BOOST_TEST(f.side->cancels == 0);
        if (!up)
            f.serve(0);
        f.side->end();
        f.poll();
        f.advance(1s);
        BOOST_TEST(f.seen.up.size() + f.seen.down.size() == told);
        BOOST_TEST(f.side->runs == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(notification_connection)

namespace {

struct hints final : store_listener
{
    void on_wakeup(std::string_view name) override { names.emplace_back(name); }
    void on_connected(store_partition) override {}
    void on_disconnected(store_partition, error_code) override {}
    void on_grant(std::string_view name, std::string_view owner) override
    {
        names.push_back(std::string(owner) + " at " + std::string(name));
    }
    void on_listening(store_partition) override { names.emplace_back("all"); }

    std::vector<std::string> take() { return std::exchange(names, {}); }

    std::vector<std::string> names;
};

using words = std::vector<std::string>;

/// A receiver with its own connection.
template <class Channel>
struct notified : fixture
{
    notified()
    {
        made->open(strand, detail::context_poster::make(strand), heard);
        poll();
    }

    ~notified()
    {
        made->close();
        if (side->running())
            side->end();
        side->fail_requests(asio::error::operation_aborted);
        poll();
    }

    /// The verbs and channels that were sent to the server since the last call.
    words said()
    {
        words all;
        for (; inspected_at < side->requests.size(); ++inspected_at) {
            std::string_view text = side->requests[inspected_at].text;
            while (!text.empty()) {
                const std::size_t end = text.find("\r\n");
                if (text.front() != '*' && text.front() != '$')
                    all.emplace_back(text.substr(0, end));
                text.remove_prefix(end + 2);
            }
        }
        return all;
    }

    void notify(std::string_view verb, std::string_view channel, std::string_view last = ":1")
    {
        side->push(">3\r\n$" + std::to_string(verb.size()) + "\r\n" + std::string(verb) + "\r\n$" +
                   std::to_string(channel.size()) + "\r\n" + std::string(channel) + "\r\n" +
                   std::string(last) + "\r\n");
        poll();
    }

    hints heard;
    std::size_t inspected_at = 0;
    std::shared_ptr<Channel> made = std::make_shared<Channel>(settings, from);
};

struct subscriptions_fixture : notified<subscriptions>
{
    void watch(std::string_view name)
    {
        made->watch(name);
        poll();
    }

    void unwatch(std::string_view name)
    {
        made->unwatch(name);
        poll();
    }
};

const std::string channel_of_a = "redisson_lock__channel:{a}";
const std::string channel_of_b = "redisson_lock__channel:{b}";

} // namespace

BOOST_AUTO_TEST_CASE(subscription_and_message_are_wake_ups)
{
    subscriptions_fixture f;
    BOOST_TEST(f.side->runs == 0); // without a watch
    f.watch("a");
    BOOST_TEST(f.side->runs == 1);
    BOOST_TEST((f.said() == words{"SUBSCRIBE", channel_of_a}));
    f.notify("subscribe", channel_of_a);
    BOOST_TEST((f.heard.take() == words{"a"}));
    f.notify("message", channel_of_a, "$1\r\n0");
    BOOST_TEST((f.heard.take() == words{"a"}));
    f.notify("message", channel_of_b, "$1\r\n0");
    f.notify("unsubscribe", channel_of_a);
    BOOST_TEST((f.heard.take() == words{}));
    f.watch("b");
    BOOST_TEST((f.said() == words{"SUBSCRIBE", channel_of_b}));
    f.watch("b");
    BOOST_TEST((f.said() == words{}));
    f.unwatch("a");
    BOOST_TEST((f.said() == words{"UNSUBSCRIBE", channel_of_a}));
    f.unwatch("a");
    BOOST_TEST((f.said() == words{}));
    f.notify("message", channel_of_a, "$1\r\n0"); // the message was on its way
    BOOST_TEST((f.heard.take() == words{}));
}

BOOST_AUTO_TEST_CASE(shared_channel_is_unsubscribed_with_its_last_name)
{
    subscriptions_fixture f;
    f.watch("a");
    f.watch("{a}");
    f.said();
    f.notify("message", channel_of_a, "$1\r\n0");
    BOOST_TEST((f.heard.take() == words{"a", "{a}"}));
    f.unwatch("a");
    BOOST_TEST((f.said() == words{}));
    f.notify("message", channel_of_a, "$1\r\n0");
    BOOST_TEST((f.heard.take() == words{"{a}"}));
    f.unwatch("{a}");
    BOOST_TEST((f.said() == words{"UNSUBSCRIBE", channel_of_a}));
}

BOOST_AUTO_TEST_CASE(new_connection_restores_all_subscriptions)
{
    subscriptions_fixture f;
    f.watch("a");
    f.watch("b");
    f.said();
    f.side->end();
    f.poll();
    f.unwatch("b");
    f.watch("c");
    BOOST_TEST((f.said() == words{})); // no message without a receiver
    f.advance(150ms);
    const words again = f.said();
    BOOST_TEST(again.size() == 4u);
    BOOST_TEST(std::count(again.begin(), again.end(), channel_of_a) == 1);
    BOOST_TEST(std::count(again.begin(), again.end(), "redisson_lock__channel:{c}") == 1);
}

// A message of the old connection does not matter, because the subscription starts again.
BOOST_AUTO_TEST_CASE(undelivered_message_is_dropped_with_its_connection)
{
    subscriptions_fixture f;
    f.watch("a");
    f.watch("b");
    f.side->push(">3\r\n$7\r\nmessage\r\n$26\r\n" + channel_of_a + "\r\n$1\r\n0\r\n", false);
    f.side->end();
    f.advance(150ms);
    f.notify("subscribe", channel_of_b);
    BOOST_TEST((f.heard.take() == words{"b"}));
}

// Rights change rarely: a denied subscription is retried every half minute, and after other losses
// as usual.
BOOST_AUTO_TEST_CASE(denied_subscription_is_retried_every_half_minute)
{
    subscriptions_fixture f;
    f.watch("a");
    BOOST_TEST(f.made->allowed());
    f.side->push("-NOPERM this user has no permissions to access one of the channels\r\n");
    f.poll();
    BOOST_TEST(!f.made->allowed());
    f.advance(29s);
    BOOST_TEST(f.side->runs == 1);
    f.advance(1s);
    BOOST_TEST(f.side->runs == 2);
    BOOST_TEST(!f.made->allowed());
    f.notify("subscribe", channel_of_a);
    BOOST_TEST(f.made->allowed());
    BOOST_TEST((f.heard.take() == words{"a"}));
    f.side->end();
    f.advance(150ms);
    BOOST_TEST(f.side->runs == 3);
    BOOST_TEST(f.made->allowed());
    f.side->push("-LOADING x\r\n");
    f.advance(150ms);
    BOOST_TEST(f.side->runs == 4);
    BOOST_TEST(f.made->allowed());
}

BOOST_AUTO_TEST_CASE(truncated_push_is_ignored)
{
    subscriptions_fixture f;
    f.watch("a");
    notified<grant_channel> grants;
    grants.made->belongs_to("client:1");
    grants.made->listen(0);
    grants.poll();
    for (const char* const push : {">0\r\n", ">1\r\n+message\r\n", ">1\r\n+subscribe\r\n",
                                   ">1\r\n+invalidate\r\n", ">1\r\n_\r\n"}) {
        f.side->push(push);
        f.poll();
        grants.side->push(push);
        grants.poll();
    }
    BOOST_TEST((f.heard.take() == words{}));
    BOOST_TEST((grants.heard.take() == words{}));
    BOOST_TEST(f.side->runs == 1);
    BOOST_TEST(!grants.made->is_subscribed(0));
}

// The connection of the commands may lead to another server now, so this one has to reconnect, too.
BOOST_AUTO_TEST_CASE(follow_restores_all_subscriptions_over_a_new_connection)
{
    subscriptions_fixture f;
    f.made->follow(f.time.now()); // there is nothing to watch yet
    f.poll();
    BOOST_TEST(f.side->runs == 0);
    f.watch("a");
    f.watch("b");
    f.said();
    f.notify("subscribe", channel_of_a);
    f.heard.take();
    f.made->follow(f.time.now());
    f.advance(1ms);
    BOOST_TEST(f.side->runs == 2);
    BOOST_TEST(f.said().size() == 4u);
    f.notify("subscribe", channel_of_a); // messages may have been missed
    BOOST_TEST((f.heard.take() == words{"a"}));
    f.made->follow(f.time.now()); // the commands fail again and again
    f.advance(999ms);
    f.made->follow(f.time.now());
    BOOST_TEST(f.side->runs == 2);
    f.advance(1ms);
    BOOST_TEST(f.side->runs == 3);
    f.advance(1s);
    f.made->follow(f.time.now());
    f.advance(1ms);
    BOOST_TEST(f.side->runs == 4);
    f.side->end();
    f.poll();
    f.made->follow(f.time.now()); // it is about to reconnect
    f.advance(49ms);
    BOOST_TEST(f.side->runs == 4);
    f.advance(101ms);
    BOOST_TEST(f.side->runs == 5);
}

namespace {

const std::string channel = "leasehold:turn:client";

struct grants_fixture : notified<grant_channel>
{
    grants_fixture()
    {
        made->publish = [this](const std::string& where, aside::answered told) {
            BOOST_TEST(where == channel);
            questions.push_back(std::move(told));
        };
        made->now = [this] { return time.now(); };
        made->belongs_to("client:1");
    }

    /// An owner is in a queue.
    void waits()
    {
        made->listen(0);
        poll();
    }

    /// The server of the commands answers the verification with the number of its receivers, or
    /// with something else.
    void answer(std::string_view said, std::size_t number)
    {
        reply told;
        using boost::redis::resp3::type;
        const bool is_error = !said.empty() && said.front() == '-';
        told.record(
            {is_error ? type::simple_error : type::number, 1, 0, is_error ? said.substr(1) : said});
        std::exchange(questions.at(number), {})(error_code(), answers(&told, 1));
        poll();
    }
    void answer(std::string_view said) { answer(said, questions.size() - 1); }

    /// The verification gets no reply.
    void fail()
    {
        std::exchange(questions.back(), {})(errc::store_unavailable, answers());
        poll();
    }

    /// The subscription is confirmed, and the server of the commands notifies this client.
    void begin()
    {
        waits();
        notify("subscribe", channel);
        answer("1");
        said();
        heard.take();
    }

    std::vector<aside::answered> questions;
};

} // namespace

// Behind one address there may be two servers. A message that another server publishes is not
// received.
BOOST_AUTO_TEST_CASE(subscription_at_another_server_than_the_commands_is_not_trusted)
{
    grants_fixture f;
    f.waits();
    f.notify("subscribe", channel);
    BOOST_TEST_REQUIRE(f.questions.size() == 1u);
    for (int i = 1; i <= 3; ++i) {
        f.answer("0");
        BOOST_TEST(!f.made->is_subscribed(0));
        BOOST_TEST((f.heard.take() == words{}));
        f.advance(150ms);
        BOOST_TEST(f.side->runs == i + 1);
        f.notify("subscribe", channel);
    }
    f.answer("1");
    BOOST_TEST(f.made->is_subscribed(0));
    BOOST_TEST((f.heard.take() == words{"all"}));

    f.made->verify();
    BOOST_TEST(f.made->is_subscribed(0)); // as far as the client knows
    f.answer("0");
    BOOST_TEST(!f.made->is_subscribed(0));
    BOOST_TEST((f.heard.take() == words{"all"})); // owners in the queue poll again
    f.made->verify();                             // there is nothing to verify
    BOOST_TEST(f.questions.size() == 5u);
    f.advance(150ms);
    BOOST_TEST(f.side->runs == 5);
    f.notify("subscribe", channel);
    f.answer("1");
    BOOST_TEST(f.made->is_subscribed(0));
}

BOOST_AUTO_TEST_CASE(verification_at_the_same_server_keeps_the_subscription)
{
    grants_fixture f;
    f.begin();
    for (int i = 0; i < 3; ++i) {
        f.made->verify();
        BOOST_TEST(f.made->is_subscribed(0));
        f.answer("2");
        BOOST_TEST(f.made->is_subscribed(0));
    }
    BOOST_TEST((f.heard.take() == words{}));
    BOOST_TEST((f.said() == words{}));
    BOOST_TEST(f.side->runs == 1);
}

// The connection of an application may be replaced without a notification.
BOOST_AUTO_TEST_CASE(subscription_is_verified_every_ten_seconds_while_waiting)
{
    grants_fixture f;
    f.begin();
    f.advance(10s - 1ms);
    f.waits();
    BOOST_TEST(f.questions.size() == 1u);
    f.advance(1ms);
    BOOST_TEST(f.questions.size() == 1u);
    f.waits();
    f.waits();
    BOOST_TEST(f.questions.size() == 2u);
    f.fail(); // no connection
    BOOST_TEST(f.made->is_subscribed(0));
    f.waits();
    BOOST_TEST(f.questions.size() == 3u);
    f.answer("0");
    BOOST_TEST(!f.made->is_subscribed(0));
}

BOOST_AUTO_TEST_CASE(only_the_latest_verification_counts)
{
    grants_fixture f;
    f.begin();
    f.made->verify();
    f.made->verify();
    f.answer("0", 1);
    BOOST_TEST(f.made->is_subscribed(0));
    f.made->verify();
    f.side->end();
    f.poll();
    f.answer("1");
    BOOST_TEST(!f.made->is_subscribed(0));
}

// In this case, the scripts also count every owner as a listener.
BOOST_AUTO_TEST_CASE(denied_publish_counts_as_a_verified_subscription)
{
    grants_fixture f;
    f.waits();
    f.notify("subscribe", channel);
    f.answer("-NOPERM this user has no permissions to run the 'publish' command");
    BOOST_TEST(f.made->is_subscribed(0));
    BOOST_TEST((f.heard.take() == words{"all"}));
}

// An owner that is not known to listen does not count as absent.
BOOST_AUTO_TEST_CASE(grants_are_received_from_confirmation_to_the_end_of_the_connection)
{
    grants_fixture f;
    BOOST_TEST(f.side->runs == 0);
    f.made->listen(0);
    f.made->listen(0);
    f.poll();
    BOOST_TEST(f.side->runs == 1);
    BOOST_TEST((f.said() == words{"SUBSCRIBE", channel}));
    f.made->listen(0); // already subscribed
    f.poll();
    BOOST_TEST(f.side->runs == 1);
    BOOST_TEST((f.said() == words{}));
    BOOST_TEST(!f.made->is_subscribed(0));
    f.notify("subscribe", "leasehold:turn:another");
    BOOST_TEST(!f.made->is_subscribed(0));
    f.notify("subscribe", channel);
    BOOST_TEST(!f.made->is_subscribed(0));
    f.answer("1");
    BOOST_TEST(f.made->is_subscribed(0));
    BOOST_TEST((f.heard.take() == words{"all"})); // messages may have been missed
    f.notify("message", channel, "$0\r\n\r\n");   // the message of the verification
    f.notify("message", channel, "$15\r\nlh:client:7 a b");
    BOOST_TEST((f.heard.take() == words{"client:7 at a b"}));
    f.notify("message", channel, "$10\r\nclient:7 a");
    f.notify("message", channel, "$11\r\nlh:client:7");
    BOOST_TEST((f.heard.take() == words{}));
    f.side->end();
    f.poll();
    BOOST_TEST(!f.made->is_subscribed(0));
    f.advance(150ms);
    BOOST_TEST((f.said() == words{"SUBSCRIBE", channel}));
    BOOST_TEST(!f.made->is_subscribed(0));
    f.notify("subscribe", channel);
    f.answer("1");
    BOOST_TEST(f.made->is_subscribed(0));
}

BOOST_AUTO_TEST_SUITE_END()
