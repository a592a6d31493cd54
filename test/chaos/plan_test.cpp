// The seed determines the faults of the nemesis.
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
    plan_settings how{.lease = 500ms, .length = 120s, .clients = 3};
    for (std::size_t i = 0; i < static_cast<std::size_t>(fault_kind::count_); ++i)
        how.kinds.push_back(static_cast<fault_kind>(i));
    return how;
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

BOOST_AUTO_TEST_CASE(seed_determines_the_plan)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        BOOST_TEST(same(make_plan(seed, settings()), make_plan(seed, settings())));
        BOOST_TEST(!same(make_plan(seed, settings()), make_plan(seed + 1, settings())));
    }
}

BOOST_AUTO_TEST_CASE(plan_has_every_kind_and_no_two_at_one_place)
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

BOOST_AUTO_TEST_CASE(plan_has_only_the_allowed_kinds)
{
    plan_settings how = settings();
    std::erase_if(how.kinds, [](fault_kind each) { return at_server(each); });
    const auto plan = make_plan(1, how);
    BOOST_TEST(!plan.empty());
    BOOST_TEST(std::none_of(plan.begin(), plan.end(),
                            [](const planned_fault& each) { return at_server(each.kind); }));
}

BOOST_AUTO_TEST_CASE(killed_server_loses_no_data_that_is_always_stored)
{
    BOOST_TEST(loses_data(fault_kind::kill_server, persistence::none));
    BOOST_TEST(!loses_data(fault_kind::kill_server, persistence::always));
}
