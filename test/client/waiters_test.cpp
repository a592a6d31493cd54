// The cost of ending the tries among many waiters.
#include <boost/test/unit_test.hpp>

#include "core/acquire/wait_queue.hpp"

#include <cstddef>
#include <vector>

namespace {

struct counted_op : boost::intrusive::list_base_hook<>
{
    counted_op(bool one_try, std::size_t& visits) : tries(one_try), looked(&visits) {}

    bool once() const
    {
        ++*looked;
        return tries;
    }

    bool explained() const { return false; }

    bool tries;
    std::size_t* looked;
};

struct waiter_list
{
    explicit waiter_list(const std::vector<bool>& tries)
    {
        ops.reserve(tries.size());
        for (const bool each : tries) {
            ops.emplace_back(each, visits);
            queue.push_back(ops.back());
        }
        visits = 0;
    }

    ~waiter_list()
    {
        while (!queue.empty())
            queue.erase(queue.front());
    }

    // Ends the tries, and returns their positions.
    std::vector<std::size_t> end_tries()
    {
        std::vector<std::size_t> ended;
        queue.each_try([&](counted_op& each) {
            ended.push_back(static_cast<std::size_t>(&each - ops.data()));
            queue.erase(each);
        });
        return ended;
    }

    std::size_t visits = 0;
    std::vector<counted_op> ops;
    leasehold::detail::waiters<counted_op> queue;
};

} // namespace

BOOST_AUTO_TEST_SUITE(waiters_of_a_name)

BOOST_AUTO_TEST_CASE(queue_without_tries_is_not_searched)
{
    waiter_list all(std::vector<bool>(10'000, false));
    for (int i = 0; i < 1'000; ++i)
        BOOST_TEST_REQUIRE(all.end_tries().empty());
    BOOST_TEST(all.visits == 0u);
}

BOOST_AUTO_TEST_CASE(tries_are_ended_in_order_and_the_search_stops_at_the_last)
{
    std::vector<bool> tries(1'000, false);
    tries[0] = tries[1] = tries[3] = true;
    waiter_list all(tries);
    BOOST_TEST((all.end_tries() == std::vector<std::size_t>{0, 1, 3}));
    BOOST_TEST(all.visits <= 10u);
    BOOST_TEST(&all.queue.front() == &all.ops[2]);
    all.visits = 0;
    BOOST_TEST(all.end_tries().empty());
    BOOST_TEST(all.visits == 0u);
}

BOOST_AUTO_TEST_CASE(removed_try_is_not_counted)
{
    waiter_list all({false, true, false, true, false});
    all.queue.erase(all.ops[1]);
    BOOST_TEST((all.end_tries() == std::vector<std::size_t>{3}));
    BOOST_TEST(all.end_tries().empty());
    BOOST_TEST(!all.queue.empty());
}

BOOST_AUTO_TEST_SUITE_END()
