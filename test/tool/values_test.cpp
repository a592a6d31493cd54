#include "command_line.hpp"
#include "values.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace leasehold::tool {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void is(milliseconds found, milliseconds expected)
{
    BOOST_TEST(found.count() == expected.count());
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_values)

BOOST_AUTO_TEST_CASE(duration_is_read_with_its_unit)
{
    is(read_duration("0s"), 0ms);
    is(read_duration("500ms"), 500ms);
    is(read_duration("2.5s"), 2'500ms);
    is(read_duration("3m"), 180s);
    is(read_duration("1h"), 3'600s);
    for (const char* wrong :
         {"", "5", "s", "-1s", "1 s", "1d", "1ss", "nan", "infs", "1e3s", "99999999999999h"})
        BOOST_CHECK_THROW(static_cast<void>(read_duration(wrong)), usage_error);
}

BOOST_AUTO_TEST_CASE(share_is_a_percentage_or_a_duration)
{
    is(share::read("20%").of(15s), 3s);
    is(share::read("0.5%").of(10s), 50ms);
    is(share::read("100%").of(10s), 10s);
    is(share::read("250ms").of(10s), 250ms);
    is(share::read("0ms").of(10s), 0ms);
    for (const char* wrong : {"%", "101%", "-1%", "20", "20 %", "20%%"})
        BOOST_CHECK_THROW(static_cast<void>(share::read(wrong)), usage_error);
}

BOOST_AUTO_TEST_CASE(duration_is_shown_in_the_largest_unit_that_fits)
{
    BOOST_TEST(to_text(0ms) == "0ms");
    BOOST_TEST(to_text(1'500ms) == "1500ms");
    BOOST_TEST(to_text(15s) == "15s");
    BOOST_TEST(to_text(120s) == "2m");
    BOOST_TEST(to_text(7'200s) == "2h");
}

BOOST_AUTO_TEST_CASE(options_are_accepted_anywhere_before_the_command)
{
    bool loud = false;
    std::string name;
    command_line options("test", "about");
    options.flag("--loud", "loud", loud);
    options.value("--name", "NAME", "name", [&](std::string_view value) { name = value; });
    const command_line::words found = options.read(
        {"a", "--name=x=y", "-", "--loud", "b", "--", "--name", "c"});
    BOOST_TEST(loud);
    BOOST_TEST(name == "x=y");
    BOOST_TEST((found.arguments == std::vector<std::string>{"a", "-", "b"}));
    BOOST_TEST((found.command == std::vector<std::string>{"--name", "c"}));
    BOOST_TEST(options.read({"--name", "--help", "-h"}).asks_for_help);
    BOOST_TEST(name == "--help");
}

BOOST_AUTO_TEST_CASE(help_lists_all_options_in_columns)
{
    bool loud = false;
    command_line options("test [OPTION...]", "About it.");
    options.flag("--loud", "Says more.", loud);
    options.value("--name", "NAME", "A name,\nor none.", [](std::string_view) {});
    options.flag("--plain", "", loud);
    options.notes("Notes.\n");
    const std::string help = options.help();
    const std::string_view lines[] = {"usage: leasehold test [OPTION...]\n\nAbout it.\n",
                                      "\n  --loud       Says more.\n",
                                      "\n  --name NAME  A name,\n               or none.\n",
                                      "\n  --plain      \n", "\n\nNotes.\n"};
    for (const std::string_view each : lines)
        BOOST_TEST(help.find(each) != std::string::npos, help);
    BOOST_TEST(help.ends_with(lines[4]));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::tool
