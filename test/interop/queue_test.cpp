// Processes of another library and of this one in one queue, at the same server.
#include <boost/test/unit_test.hpp>

#include "interop/peer.hpp"
#include "interop/queue_server.hpp"
#include "support/directory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace leasehold::test;
using namespace std::chrono_literals;

constexpr auto lease_time = 60s; // of the locks that do not end with a session
constexpr auto patient = 60s;

/// A server, and two processes of each library.
class scene
{
public:
    const std::unique_ptr<queue_server> server = start_queue_server();

    std::array<peer, 2>& of(bool this_library) { return this_library ? ours_ : theirs_; }

    /// Returns when the process waits, or holds the lock, with so many processes before it.
    void join(peer& process, const std::string& name, std::size_t before,
              std::chrono::milliseconds limit = patient)
    {
        process.start_lock(name, lease_time, limit);
        server->wait_for_contenders(name, before + 1);
    }

private:
    peer our_process() { return peer({LEASEHOLD_TEST_PEER, server->url()}); }
    peer their_process() { return peer(peer::other_library(server->places())); }

    std::array<peer, 2> ours_{our_process(), our_process()};
    std::array<peer, 2> theirs_{their_process(), their_process()};
};

/// The processes live as long as the tests: some take seconds to start.
scene& shared_scene()
{
    static scene only;
    return only;
}

/// A name, and the part of its node or of its keys.
const std::map<std::string, std::string> stored_names{
    {"stock", "stock"},
    {"order:42", "order:42"},
    {"{tag}:a", "{tag}:a"},
    {"quote\"'\\", "quote\"'\\"},
    {std::string(200, 'x'), std::string(200, 'x')},
    {"with/slash", "with%2Fslash"},
    {"with space", "with%20space"},
    {"100%", "100%25"},
    {"\xc3\xa4rgerlich", "%C3%A4rgerlich"},
};

class counter
{
public:
    /// All processes increment it at the same time. Returns how many increments were lost.
    int lost(scene& at, const std::vector<std::string>& names)
    {
        constexpr int times = 15;
        std::ofstream(file_) << 0;
        std::vector<peer*> all;
        for (const std::size_t i : {0u, 1u})
            for (const bool ours : {true, false})
                all.push_back(&at.of(ours).at(i));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i]->start_count(names[i % names.size()], file_, times);
        for (peer* each : all)
            BOOST_TEST_REQUIRE(each->counted());
        int counted = 0;
        std::ifstream(file_) >> counted;
        return static_cast<int>(all.size()) * times - counted;
    }

private:
    temporary_directory directory_;
    const std::string file_ = directory_.file("counter");
};

} // namespace

BOOST_AUTO_TEST_CASE(each_library_waits_for_the_other_under_every_name)
{
    scene& at = shared_scene();
    peer& ours = at.of(true)[0];
    peer& theirs = at.of(false)[0];
    for (const auto& [name, theirs_name] : stored_names)
        BOOST_TEST_CONTEXT(name)
        {
            BOOST_TEST_REQUIRE(ours.lock(name, lease_time, patient));
            theirs.start_lock(theirs_name, lease_time, patient);
            at.server->wait_for_contenders(name, 2);
            BOOST_TEST(!theirs.has_answered());
            BOOST_TEST(ours.unlock(name));
            BOOST_TEST_REQUIRE(theirs.locked());
            ours.start_lock(name, lease_time, patient);
            at.server->wait_for_contenders(name, 2);
            BOOST_TEST(!ours.has_answered());
            BOOST_TEST(theirs.unlock(theirs_name));
            BOOST_TEST_REQUIRE(ours.locked());
            BOOST_TEST(ours.unlock(name));
        }
}

BOOST_AUTO_TEST_CASE(lock_is_granted_in_the_order_of_the_queue)
{
    scene& at = shared_scene();
    std::array<bool, 4> is_ours{false, false, true, true};
    do {
        std::vector<peer*> queue;
        std::array<std::size_t, 2> used{};
        for (const bool ours : is_ours) {
            queue.push_back(&at.of(ours).at(used.at(ours)++));
            at.join(*queue.back(), "queue", queue.size() - 1);
        }
        while (!queue.empty()) {
            peer& first = *queue.front();
            queue.erase(queue.begin());
            BOOST_TEST_REQUIRE(first.locked());
            for (peer* waiting : queue)
                BOOST_TEST(!waiting->has_answered());
            BOOST_TEST(first.unlock("queue"));
        }
    } while (std::next_permutation(is_ours.begin(), is_ours.end()));
}

BOOST_AUTO_TEST_CASE(waiter_that_gives_up_leaves_the_queue)
{
    scene& at = shared_scene();
    for (const bool ours : {true, false}) {
        peer& impatient = at.of(ours)[0];
        auto& [holder, last] = at.of(!ours);
        BOOST_TEST_REQUIRE(holder.lock("impatient", lease_time, patient));
        at.join(impatient, "impatient", 1, 5s);
        last.start_lock("impatient", lease_time, patient);
        BOOST_TEST(!impatient.locked());
        at.server->wait_for_contenders("impatient", 2);
        BOOST_TEST(!last.has_answered());
        BOOST_TEST(holder.unlock("impatient"));
        BOOST_TEST_REQUIRE(last.locked());
        BOOST_TEST(last.unlock("impatient"));
    }
}

BOOST_AUTO_TEST_CASE(counter_of_both_libraries_loses_no_increment)
{
    counter shared;
    for (int run = 0; run < 10; ++run)
        BOOST_TEST(shared.lost(shared_scene(), {"counter"}) == 0);
}

BOOST_AUTO_TEST_CASE(counter_under_different_locks_loses_increments)
{
    BOOST_TEST(counter().lost(shared_scene(), {"a", "b", "c", "d"}) > 0);
}
