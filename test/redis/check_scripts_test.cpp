// The results of the scripts that check rights and commands for each reply, including texts of
// servers that are not installed here. The test supplies the replies instead of a server.
#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

// ARGV selects the rejected call and the error. The error begins with the name of the call.
const std::string in_place_of_the_server = R"(
local made = 0
local redis = {
    pcall = function(name)
        made = made + 1
        if made == tonumber(ARGV[1]) then return {err = name .. ': ' .. ARGV[2]} end
        return {}
    end,
    error_reply = function(text) return {err = text} end
}
)";

const std::vector<const redis_store::script*> all_checks = {
    &redis_store::check_script(), &redis_store::of_native().check, &redis_store::of_quorum().check};

const std::vector<std::string> unknown = {
    "ERR Unknown Redis command called from script script: 0af, on @user_script:1.",
    "@user_script: 14: Unknown Redis command called from Lua script",
    "ERR unknown command 'PTTL', with args beginning with: 'x'",
};

const std::vector<std::string> denied = {
    "NOPERM this user has no permissions to run the 'pttl' command",
    "ACL failure in script: User orders has no permissions to run the 'pttl' command",
    "@user_script: 14: The user executing the script can't run this command or subcommand",
};

const std::vector<std::string> nothing_said = {
    "NOPERM No permissions to access a key",
    "ACL failure in script: User orders has no permissions to access the 'leasehold:check' key",
    "The user executing the script can't access at least one of the keys mentioned",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "ERR value is not an integer or out of range",
};

struct fixture
{
    resp_value run(const redis_store::script& check, std::size_t refused, const std::string& text)
    {
        return client.command({"EVAL", in_place_of_the_server + std::string(check.text), "0",
                               std::to_string(refused), text});
    }

    /// The number of commands that the script tries.
    std::size_t size(const redis_store::script& check)
    {
        std::size_t number = 1;
        while (run(check, number, unknown.front()).is_error())
            ++number;
        return number - 1;
    }

    redis_server server;
    resp_client client{server.endpoint()};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(check_scripts, fixture)

BOOST_AUTO_TEST_CASE(missing_or_denied_command_is_named)
{
    for (const redis_store::script* const check : all_checks) {
        const std::size_t calls = size(*check);
        BOOST_TEST(calls > 10u);
        for (std::size_t i = 1; i <= calls; ++i) {
            const auto names = [&](const std::string& begin, const std::string& text) {
                const resp_value said = run(*check, i, text);
                BOOST_TEST_REQUIRE(said.is_error(), text);
                const std::string end = ": " + text;
                BOOST_TEST_REQUIRE(said.text.ends_with(end), said.text);
                const std::string rest = said.text.substr(0, said.text.size() - end.size());
                const std::string name = rest.substr(rest.rfind(' ') + 1);
                BOOST_TEST(rest == begin + ' ' + name + ", which locks need: " + name);
            };
            for (const std::string& text : unknown)
                names("ERR unknown command", text);
            for (const std::string& text : denied)
                names("NOPERM", text);
        }
    }
}

// The key of the check need not belong to the user, and a temporary error is no reason.
BOOST_AUTO_TEST_CASE(other_errors_are_ignored)
{
    for (const redis_store::script* const check : all_checks) {
        const std::size_t calls = size(*check);
        for (std::size_t i = 1; i <= calls; ++i)
            for (const std::string& text : nothing_said)
                BOOST_TEST(run(*check, i, text).number == 1, text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
