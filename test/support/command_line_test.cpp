#include <boost/test/unit_test.hpp>

#include "support/command_line.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace leasehold::test;

struct program
{
    bool trace = false;
    std::string plan;
    std::uint64_t seeds = 7;
    std::optional<std::uint64_t> seed;

    void read(std::vector<const char*> words)
    {
        words.insert(words.begin(), "program");
        command_line()
            .flag("--trace", trace)
            .value("--plan", plan)
            .number("--seeds", seeds)
            .number("--seed", seed)
            .read(static_cast<int>(words.size()), words.data());
    }

    std::string refused(const std::vector<const char*>& words)
    {
        try {
            read(words);
        }
        catch (const bad_argument& wrong) {
            return wrong.what();
        }
        return "taken";
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(command_lines)

BOOST_AUTO_TEST_CASE(options_may_have_any_order_and_the_last_counts)
{
    program p;
    p.read({"--seed", "18446744073709551615", "--trace", "--plan", "--trace", "--seed", "3"});
    BOOST_TEST(p.trace);
    BOOST_TEST(p.plan == "--trace"); // the next word is the value
    BOOST_TEST(p.seeds == 7u);
    BOOST_TEST((p.seed == 3u));
}

BOOST_AUTO_TEST_CASE(error_names_the_argument_and_the_permitted_values)
{
    program p;
    BOOST_TEST(p.refused({"--sed"}) ==
               "unknown argument '--sed'; allowed: --trace, --plan, --seeds, --seed");
    BOOST_TEST(p.refused({"--trace", "--plan"}) == "--plan needs a value");
    for (const char* const no_number : {"", "x", "7x", "-1", "+1", " 1", "18446744073709551616"})
        BOOST_TEST(p.refused({"--seeds", no_number}) ==
                   "--seeds is '" + std::string(no_number) +
                       "'; it must be a whole number, not negative, below 2^64");
    BOOST_TEST(p.seeds == 7u);
}

BOOST_AUTO_TEST_SUITE_END()
