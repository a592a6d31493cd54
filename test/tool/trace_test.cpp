// `leasehold trace`, as a process, on the test's own servers.
#include "tool/tool_runs.hpp"

#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/print.hpp"
#include "support/process.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_server.hpp"
#include "support/tested_layout.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;

bool has_part(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

/// A trace that a test reads line by line.
struct tracing : tool_runs
{
    redis_server server;
    std::unique_ptr<process> trace{};

    void begin(words arguments)
    {
        arguments.insert(arguments.begin(), {"trace", "--every", "10ms"});
        trace = start(arguments, server.unix_url());
    }

    /// Returns the next line with this event. Other lines may only be renewals.
    std::string next(const std::string& event)
    {
        const auto limit = std::chrono::steady_clock::now() + 30s;
        for (;;) {
            const auto line = trace->read_line(30s);
            BOOST_TEST_REQUIRE(line.has_value(), "no line '" << event << "': " << said());
            if (has_part(*line, event))
                return *line;
            BOOST_TEST_REQUIRE(has_part(*line, " renewed "), *line << " is not " << event);
            BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < limit), "no " << event);
        }
    }

    ran end()
    {
        trace->signal(SIGINT);
        return finish(*trace);
    }

    [[nodiscard]] resp_client raw() const { return server.connect(); }

    /// Writes the key of a lock whose holder does not exist.
    void abandon(std::chrono::milliseconds lease) const
    {
        const std::string mark = tested_layout() == redis_config::key_layout::native ? "lh:" : "";
        resp_client store = raw();
        take_for(store, "stock", mark + "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1", lease);
    }
};

boost::test_tools::assertion_result in_native(boost::unit_test::test_unit_id)
{
    return tested_layout() == redis_config::key_layout::native;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_trace, tracing)

BOOST_AUTO_TEST_CASE(trace_follows_a_lock_from_one_holder_to_the_next)
{
    client_thread one(server);
    client_thread two(server);
    begin({"stock"});
    next(" free stock");
    lease first = take(one, "stock");
    next(" taken stock by " + one.locks().id());
    auto waiting = two.start_lock("stock", long_lease());
    next(" queued stock by " + two.locks().id() + ", position 1");
    const std::string renewed = next(" renewed stock by " + one.locks().id());
    const std::size_t at = renewed.find(", fence at most ");
    BOOST_TEST_REQUIRE(at != renewed.npos, renewed);
    BOOST_TEST(std::stoull(renewed.substr(at + 16)) >= first.fence());
    BOOST_TEST(!one.release(std::move(first)));
    const std::string passed = next(" passed stock from " + one.locks().id() + ", held for ");
    BOOST_TEST(has_part(passed, ", to " + two.locks().id()), passed);
    BOOST_TEST(has_part(passed, ", waited for "), passed);
    taken got = get(waiting);
    BOOST_TEST(!got.code);
    BOOST_TEST(!two.release(std::move(got.held)));
    next(" freed stock by " + two.locks().id() + ", held for ");
    const ran done = end();
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.lines.empty());
    BOOST_TEST(done.said == "");
}

BOOST_AUTO_TEST_CASE(waiter_that_gives_up_has_left)
{
    client_thread one(server);
    const lease held = take(one, "stock");
    begin({"stock"});
    next(" held stock by " + one.locks().id());
    const words command{"run", "--wait", "300ms", "stock", "--", "true"};
    const bool native = tested_layout() == redis_config::key_layout::native;
    const std::string url = server.unix_url() + (native ? "" : "?layout=redisson");
    BOOST_TEST(tool_runs().run(command, url).code == 75);
    next(" queued stock by ");
    BOOST_TEST(has_part(next(" left stock by "), ", waited for "));
    BOOST_TEST(end().code == 0);
}

BOOST_AUTO_TEST_CASE(expired_lock_is_distinguished_from_a_deleted_one)
{
    begin({"stock"});
    next(" free stock");
    abandon(100ms);
    next(" taken stock by 5e0f8c21");
    next(" expired stock by 5e0f8c21, held for ");
    abandon(60s);
    next(" taken stock by 5e0f8c21");
    auto store = raw();
    store.done({"DEL", "stock"});
    next(" freed stock by 5e0f8c21, held for ");
    BOOST_TEST(end().code == 0);
}

BOOST_AUTO_TEST_CASE(trace_continues_after_a_restart_of_the_server)
{
    abandon(60s);
    begin({"--json", "stock"});
    next("\"event\":\"held\",\"name\":\"stock\",\"lock\":{\"name\":\"stock\"");
    server.kill();
    BOOST_TEST(has_part(next("\"event\":\"unreachable\""), server.socket()));
    server.start();
    next("\"event\":\"reachable\"");
    next("\"event\":\"freed\"");
    const ran done = end();
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.said == "");
}

BOOST_AUTO_TEST_CASE(until_free_ends_when_all_locks_are_free)
{
    client_thread one(server);
    lease stock = take(one, "stock");
    lease other = take(one, "other");
    begin({"--until-free", "stock", "other", "stock", "nothing"});
    next(" held stock");
    next(" held other");
    next(" free nothing");
    BOOST_TEST(!one.release(std::move(stock)));
    next(" freed stock");
    BOOST_TEST(tool_runs()
                   .run({"trace", "--until-free", "--for", "50ms", "other"}, server.unix_url())
                   .code == 75);
    BOOST_TEST(!one.release(std::move(other)));
    const ran done = finish(*trace);
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.has(" freed other"));
    BOOST_TEST(tool_runs().run({"trace", "--until-free", "other"}, server.unix_url()).code == 0);
    BOOST_TEST(tool_runs().run({"trace", "--for", "50ms", "other"}, server.unix_url()).code == 0);
}

BOOST_AUTO_TEST_CASE(limit_counts_from_the_first_read)
{
    const words shortest{"trace", "--for", "1ms", "stock"};
    for (int i = 0; i < 10; ++i) {
        const ran done = tool_runs().run(shortest, server.unix_url());
        BOOST_TEST(done.code == 0);
        BOOST_TEST(done.has(" free stock"));
    }
    server.pause();
    const ran silent = tool_runs().run(shortest, server.unix_url() + "?timeout=300");
    BOOST_TEST(silent.code == 77);
    BOOST_TEST(silent.says("does not answer within 300 ms"));
}

BOOST_AUTO_TEST_CASE(page_shows_holders_and_waiters)
{
    const temporary_directory directory;
    const std::string file = directory.file("trace.html");
    client_thread one(server);
    client_thread two(server);
    lease first = take(one, "stock");
    begin({"--html", file, "stock", "other"});
    next(" held stock");
    next(" free other");
    auto waiting = two.start_lock("stock", long_lease());
    next(" queued stock");
    BOOST_TEST(!one.release(std::move(first)));
    next(" passed stock");
    const taken got = get(waiting);
    BOOST_TEST(!got.code);
    BOOST_TEST(end().code == 0);
    std::ifstream in(file);
    const std::string page{std::istreambuf_iterator<char>(in), {}};
    for (const std::string& part :
         {std::string("<!DOCTYPE html>"), std::string("Trace of stock, other"),
          "\"stock " + one.locks().id() + "\"", "\"stock " + two.locks().id() + "\"",
          std::string("\"other (server)\""), std::string("\"kind\":\"lock\""),
          std::string("\"kind\":\"waiting\""), std::string("\"label\":\"fence \\u003c= "),
          got.held.share_owner().id()})
        BOOST_TEST(has_part(page, part), "the page has no " << part);
    const ran failed = run({"trace", "--html", "/dev/null/file", "stock"}, server.unix_url());
    BOOST_TEST(failed.code == 70);
    BOOST_TEST(failed.says("cannot write /dev/null/file"), failed.said);
}

BOOST_AUTO_TEST_CASE(lock_of_another_library_is_traced)
{
    auto store = raw();
    store.done({"SET", "stock", "token-of-redis-py", "PX", "60000"});
    begin({"stock"});
    next(" held stock by a client of another library");
    store.done({"PEXPIRE", "stock", "120000"});
    next(" renewed stock by a client of another library");
    store.done({"DEL", "stock"});
    next(" freed stock");
    BOOST_TEST(end().code == 0);
}

BOOST_AUTO_TEST_CASE(key_that_becomes_another_type_does_not_end_a_trace)
{
    const temporary_directory directory;
    begin({"--html", directory.file("trace.html"), "stock"});
    next(" free stock");
    auto store = raw();
    store.done({"RPUSH", "stock", "a"});
    next(" unreachable stock: KEY 'stock' is a list; it must be a lock");
    store.done({"DEL", "stock"});
    next(" reachable stock");
    BOOST_TEST(end().code == 0);
    BOOST_TEST(std::ifstream(directory.file("trace.html")).good());
}

BOOST_AUTO_TEST_CASE(wrong_arguments_of_a_trace_are_refused)
{
    auto store = raw();
    store.command({"RPUSH", "list", "a"});
    for (const words& wrong :
         {words{"trace"}, words{"trace", ""}, words{"trace", "a", "--", "b"},
          words{"trace", "a", "--every", "1ms"}, words{"trace", "a", "--for", "1"},
          words{"trace", "a", "--url", "memory:"}, words{"trace", "list"},
          words{"trace", "leasehold:fence"}}) {
        const ran done = run(wrong, server.unix_url());
        BOOST_TEST(done.code == 2, wrong.back() << ": " << done.said);
        BOOST_TEST(done.lines.empty());
    }
    server.kill();
    BOOST_TEST(run({"trace", "stock"}, server.unix_url()).code == 77);
}

BOOST_AUTO_TEST_CASE(trace_of_a_quorum_shows_its_members,
                     *boost::unit_test::precondition(in_native))
{
    quorum_deployment members;
    client_thread one(members.settings());
    lease held = take(one, "stock");
    trace = start({"trace", "--every", "10ms", "stock"}, members.url());
    const std::string line = next(" held stock by " + one.locks().id());
    BOOST_TEST(has_part(line, " of 3 members"), line);
    BOOST_TEST(!one.release(std::move(held)));
    for (std::string seen = next("stock by"); !has_part(seen, " freed "); seen = next("stock by"))
        BOOST_TEST_REQUIRE((has_part(seen, " members ") || has_part(seen, " renewed ")), seen);
    BOOST_TEST(end().code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
