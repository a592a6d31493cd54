// What the nemesis is going to do is decided by the seed.
#include <boost/test/unit_test.hpp>

#include "chaos/plan.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace {

using namespace leasehold::test::chaos;
using namespace std::chrono_literals;

plan_settings settings()
{
    return {.how = persistence::everysec, .lease = 500ms, .length = 60s, .clients = 3};
}

auto all_of(const planned_fault& of)
{
    return std::tuple(of.kind, of.place, of.begin, of.length, of.detail);
}

bool same(const std::vector<planned_fault>& a, const std::vector<planned_fault>& b)
{
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const auto& one, const auto& other) { return all_of(one) == all_of(other); });
}

bool together(const planned_fault& a, const planned_fault& b)
{
    return a.begin < b.begin + b.length && b.begin < a.begin + a.length;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_seed_is_a_plan)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        BOOST_TEST(same(make_plan(seed, settings()), make_plan(seed, settings())));
        BOOST_TEST(!same(make_plan(seed, settings()), make_plan(seed + 1, settings())));
    }
}

BOOST_AUTO_TEST_CASE(every_kind_comes_and_no_two_are_in_one_place)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto plan = make_plan(seed, settings());
        std::set<fault_kind> kinds;
        for (std::size_t i = 0; i < plan.size(); ++i) {
            kinds.insert(plan[i].kind);
            BOOST_TEST((plan[i].place == the_server || plan[i].place < 3));
            BOOST_TEST(at_server(plan[i].kind) == (plan[i].place == the_server));
            std::size_t others = 0;
            for (std::size_t j = 0; j < i; ++j) {
                BOOST_TEST((plan[j].begin < plan[i].begin));
                const bool at_once = together(plan[i], plan[j]);
                others += at_once && plan[j].begin + plan[j].length > plan[i].begin ? 1 : 0;
                BOOST_TEST((!at_once || plan[i].place != plan[j].place));
            }
            BOOST_TEST(others < most_at_once);
        }
        BOOST_TEST(kinds.size() == static_cast<std::size_t>(fault_kind::count_));
    }
}

BOOST_AUTO_TEST_CASE(what_a_server_cannot_do_is_not_planned)
{
    plan_settings how = settings();
    how.how = persistence::always;
    how.can_sleep = false;
    const auto plan = make_plan(1, how);
    BOOST_TEST(std::none_of(plan.begin(), plan.end(), [](const planned_fault& each) {
        return each.kind == fault_kind::power_cut || each.kind == fault_kind::sleep_server;
    }));
    BOOST_TEST(loses_data(fault_kind::kill_server, persistence::none));
    BOOST_TEST(!loses_data(fault_kind::kill_server, persistence::always));
}
