// The errors of the command for output that cannot be written, and for flags with values.
#include "tool/tool_runs.hpp"
#include "tool/words.hpp"

#include "support/print.hpp"
#include "support/redis_server.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using words = std::vector<std::string>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_output, tool_runs)

// A full disk, and a standard output that is closed.
BOOST_DATA_TEST_CASE(output_that_cannot_be_written_is_an_error_of_every_command,
                     boost::unit_test::data::make({">/dev/full", ">&-"}), output)
{
    const redis_server server;
    client_thread holder(at(server));
    const lease held = take(holder, "stock");
    const words break_stock{"break", "stock", "--owner", held.share_owner().id()};
    std::vector<words> all{
        {"--help"},
        {"--version"},
        {"ls"},
        {"ls", "--json"},
        {"ls", "--json", "nothing*"},
        {"inspect", "stock"},
        {"inspect", "--json", "stock"},
        {"inspect", "--json", "nothing"},
        {"watch"},
        {"watch", "--json"},
        {"trace", "stock"},
        {"trace", "--json", "stock"},
        {"doctor", "--apart", "1ms"},
        {"doctor", "--apart", "1ms", "--json"},
        {"bench", "--time", "1ms"},
        {"bench", "--time", "1ms", "--json"},
        break_stock,
        {"describe", "man"},
        {"describe", "bash"},
        {"describe", "zsh"},
        {"describe", "fish"},
    };
    for (const char* const name :
         {"run", "ls", "inspect", "watch", "trace", "break", "doctor", "bench"})
        all.push_back({name, "--help"});
    const std::string error = output == std::string(">&-") ? "Bad file descriptor"
                                                           : "No space left on device";
    for (const words& each : all) {
        BOOST_TEST_CONTEXT(each.front() << " " << each.back())
        {
            const ran done = run(each, server.unix_url(), output);
            BOOST_TEST(done.code == 70);
            BOOST_TEST(done.says("leasehold: cannot write to standard output: " + error),
                       done.said);
        }
    }
    BOOST_TEST(run({"describe", "man", "/dev/full"}, server.unix_url()).code == 70);
}

BOOST_AUTO_TEST_CASE(watch_ends_with_success_when_its_reader_has_ended)
{
    const redis_server server;
    client_thread holder(at(server));
    process watching({"/bin/sh", "-c",
                      "exec 3>&1; { \"$0\" watch --every 10ms 2>&3; echo $? >&3; } | true", tool},
                     {{"LEASEHOLD_URL", server.unix_url()}});
    while (!watching.has_line()) // until a line is unread
        BOOST_TEST_REQUIRE(!holder.release(take(holder, "stock")));
    BOOST_TEST(watching.read_line().value() == "0");
}

BOOST_AUTO_TEST_CASE(flag_with_a_value_is_refused)
{
    const auto rejected = [&](const words& arguments, const std::string& text) {
        const ran done = run(arguments, "");
        BOOST_TEST(done.code == 2);
        BOOST_TEST(done.said == "leasehold: " + text + "\n");
    };
    rejected({"--help=1"}, "--help takes no value");
    rejected({"-h=1"}, "-h takes no value");
    rejected({"--version=1"}, "--version takes no value");
    rejected({"run", "--help=1"}, "--help takes no value");
    rejected({"ls", "-h="}, "-h takes no value");
    rejected({"ls", "--json=1"}, "--json takes no value");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
