#include <boost/test/unit_test.hpp>

// Of the database that is tested.
#include "locks.hpp"
#include "testing/time/random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace leasehold::test {
namespace {

using grant = announced_grant;

/// The expected state of a lock.
struct lock_model
{
    struct waiter
    {
        std::string owner;
        bool present = true;
    };

    std::string name;
    std::string holder{}; ///< Empty: none.
    bool confirmed = false;
    std::int64_t last_fence = 0;
    std::vector<waiter> queue{};

    [[nodiscard]] std::size_t position(const std::string& owner) const
    {
        return static_cast<std::size_t>(
            std::find_if(queue.begin(), queue.end(),
                         [&](const waiter& each) { return each.owner == owner; }) -
            queue.begin());
    }

    bool leave(const std::string& owner)
    {
        const std::size_t at = position(owner);
        if (at == queue.size())
            return false;
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
        return true;
    }

    /// The owner that a free lock is granted to; empty: none.
    std::string first_present()
    {
        while (!queue.empty() && !queue.front().present)
            queue.erase(queue.begin());
        return queue.empty() ? std::string() : queue.front().owner;
    }
};

/// Random requests of three clients for two names, compared with the model after each.
class random_steps
{
public:
    random_steps(lock_fixture& fixture, std::uint64_t seed) : fixture_(fixture), random_(seed)
    {
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            const std::string id(1, static_cast<char>('a' + i));
            clients_.at(i) = std::make_unique<client>(fixture.where, id);
        }
    }

    void run(int steps)
    {
        for (int i = 0; i < steps; ++i) {
            lock_model& lock = names_.at(random_.below(names_.size()));
            step(lock);
            compare(lock);
        }
    }

    /// Each waiter gets the lock in its turn.
    void drain()
    {
        for (lock_model& lock : names_) {
            for (lock_model::waiter& each : lock.queue)
                acquire(lock, each.owner, true);
            while (!lock.holder.empty() || !lock.queue.empty()) {
                if (lock.holder.empty())
                    acquire(lock, lock.first_present(), true);
                else
                    release(lock, lock.holder, {});
                compare(lock);
            }
        }
    }

private:
    struct client
    {
        client(const std::string& where, std::string name)
            : id(std::move(name)), requests(where), listener(where, id)
        {}
        std::string id;
        locks requests;
        listening listener;
        std::vector<grant> grants; ///< Those of which it must be notified by this step.
        int owners = 0;
    };

    client& client_of(const std::string& owner)
    {
        return *clients_.at(static_cast<std::size_t>(owner.front() - 'a'));
    }

    std::string new_owner()
    {
        client& of = *clients_.at(random_.below(clients_.size()));
        return of.id + ':' + std::to_string(++of.owners);
    }

    void step(lock_model& lock)
    {
        const std::string owner = lock.queue.empty()
                                      ? new_owner()
                                      : lock.queue[random_.below(lock.queue.size())].owner;
        switch (random_.below(10)) {
        case 0: return acquire(lock, new_owner(), false);
        case 1:
        case 2: return acquire(lock, new_owner(), true);
        case 3: return acquire(lock, owner, true);
        case 4: return acquire(lock, lock.holder.empty() ? owner : lock.holder, true);
        case 5: return release(lock, owner, {});
        case 6: return release(lock, lock.holder.empty() ? owner : lock.holder, new_owner());
        case 7: return expire(lock);
        case 8: return lose_presence(lock, owner);
        default: return release(lock, lock.holder.empty() ? owner : lock.holder, {});
        }
    }

    lock_request request_of(const lock_model& lock, const std::string& owner, bool waits)
    {
        lock_request result{.owner = owner, .name = lock.name};
        result.presence = waits ? 60'000 : 0;
        result.listener = client_of(owner).listener.listener();
        result.wanted = static_cast<std::int64_t>(random_.below(3) + 1);
        return result;
    }

    void acquire(lock_model& lock, const std::string& owner, bool waits)
    {
        expect(lock, owner, waits,
               client_of(owner).requests.acquire(request_of(lock, owner, waits)));
    }

    /// Compares an acquire with the model, which it changes.
    void expect(lock_model& lock, const std::string& owner, bool waits, const acquired& got)
    {
        if (lock.holder.empty()) {
            const std::string first = lock.first_present();
            if (!first.empty() && first != owner)
                grant_to(lock, first);
        }
        if (lock.holder.empty() || lock.holder == owner) {
            BOOST_TEST(got.result == granted);
            if (lock.holder.empty() || !lock.confirmed)
                BOOST_TEST(got.first_fence() > lock.last_fence);
            else
                BOOST_TEST(got.fence == lock.last_fence);
            lock.leave(owner);
            lock.holder = owner;
            lock.confirmed = true;
            lock.last_fence = got.fence;
            return;
        }
        BOOST_TEST(got.result == held);
        const std::size_t at = lock.position(owner);
        if (waits && at == lock.queue.size())
            lock.queue.push_back({owner});
        else if (waits)
            lock.queue[at].present = true;
        BOOST_TEST(got.place == (waits ? static_cast<std::int64_t>(at) : -1));
    }

    void grant_to(lock_model& lock, const std::string& owner)
    {
        lock.leave(owner);
        lock.holder = owner;
        lock.confirmed = false;
        client_of(owner).grants.push_back({owner, lock.name});
    }

    void release(lock_model& lock, const std::string& owner, const std::string& next)
    {
        const lock_request request = next.empty() ? lock_request() : request_of(lock, next, true);
        const released got = client_of(owner).requests.release(owner, lock.name, {}, request);
        if (lock.holder != owner) {
            const bool left = lock.leave(owner);
            BOOST_TEST(got.result == (left ? left_queue : not_owner));
            BOOST_TEST(!got.next.has_value());
            if (left && lock.holder.empty() && !lock.first_present().empty())
                grant_to(lock, lock.first_present());
            return;
        }
        lock.holder.clear();
        const std::string first = lock.first_present();
        if (!first.empty())
            grant_to(lock, first);
        BOOST_TEST(got.result == (first.empty() ? freed : granted_next));
        BOOST_REQUIRE(got.next.has_value() == !next.empty());
        if (got.next)
            expect(lock, next, true, *got.next);
    }

    void expire(lock_model& lock)
    {
        fixture_.expire(lock.name);
        lock.holder.clear();
    }

    void lose_presence(lock_model& lock, const std::string& owner)
    {
        fixture_.expire_presence(owner);
        if (const std::size_t at = lock.position(owner); at != lock.queue.size())
            lock.queue[at].present = false;
    }

    void compare(const lock_model& lock)
    {
        BOOST_TEST(fixture_.holder_of(lock.name) == lock.holder);
        const std::vector<std::string> waiters = fixture_.waiters_of(lock.name);
        BOOST_REQUIRE(waiters.size() == lock.queue.size());
        for (std::size_t i = 0; i < waiters.size(); ++i)
            BOOST_TEST(waiters[i] == lock.queue[i].owner);
        for (const auto& each : clients_) {
            BOOST_TEST(each->grants == each->listener.grants());
            each->grants.clear();
        }
    }

    lock_fixture& fixture_;
    testing::impl::generator random_;
    std::array<std::unique_ptr<client>, 3> clients_;
    std::array<lock_model, 2> names_{{{.name = "one"}, {.name = "two"}}};
};

BOOST_FIXTURE_TEST_SUITE(schema_random, lock_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

BOOST_AUTO_TEST_CASE(random_requests_have_the_results_of_the_model)
{
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_steps steps(*this, seed);
            steps.run(400);
            steps.drain();
            clear();
        }
    }
}

/// Increments a counter `times` times under the lock, which it waits for in the queue.
void increment(const std::string& where, const std::string& id, int times)
{
    locks requests(where);
    listening heard(where, id);
    for (int i = 0; i < times; ++i) {
        lock_request request = waiting(id + ':' + std::to_string(i));
        request.listener = heard.listener();
        acquired got = requests.acquire(request);
        while (got.result != granted) {
            heard.next_grant();
            got = requests.acquire(request);
        }
        const std::int64_t value = requests.run("select value from counter").number("value");
        const std::string fence = std::to_string(got.fence);
        requests.run("update counter set value = " + std::to_string(value + 1) +
                     ", fence = " + fence + " where fence < " + fence);
        requests.release(request.owner);
    }
}

BOOST_AUTO_TEST_CASE(concurrent_clients_lose_no_update)
{
    constexpr int times = 300;
    admin.run("create table counter (value bigint, fence bigint)");
    admin.run("insert into counter values (0, 0)");
    std::array<std::exception_ptr, 4> failures;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        threads.emplace_back([this, i, &failures] {
            try {
                increment(where, std::string(1, static_cast<char>('a' + i)), times);
            }
            catch (...) {
                failures.at(i) = std::current_exception();
            }
        });
    }
    for (std::thread& each : threads)
        each.join();
    for (const std::exception_ptr& failure : failures)
        BOOST_CHECK_NO_THROW(failure ? std::rethrow_exception(failure) : void());
    BOOST_TEST(admin.run("select value from counter").number("value") == 4 * times);
    BOOST_TEST(waiters_of("lock").empty());
    admin.run("drop table counter");
}

// A batch of requests in one transaction, in the order of the names, as a store sends them.
BOOST_AUTO_TEST_CASE(concurrent_batches_in_the_order_of_names_do_not_deadlock)
{
    const auto batches = [this](const std::string& id, std::exception_ptr& failure) {
        try {
            locks requests(where);
            std::vector<renewal_of> renewals{{id + ":1", "c"}, {id + ":1", "a"}, {id + ":1", "b"}};
            for (int i = 0; i < 300; ++i) {
                requests.begin();
                for (const char* name : {"a", "b", "c"})
                    requests.acquire(waiting(id + ":1", name));
                requests.commit();
                requests.renew(renewals);
                requests.begin();
                for (const char* name : {"a", "b", "c"})
                    requests.release(id + ":1", name);
                requests.commit();
            }
        }
        catch (...) {
            failure = std::current_exception();
        }
    };
    std::array<std::exception_ptr, 3> failures;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < failures.size(); ++i)
        threads.emplace_back(batches, std::string(1, static_cast<char>('a' + i)),
                             std::ref(failures.at(i)));
    for (std::thread& each : threads)
        each.join();
    for (const std::exception_ptr& failure : failures)
        BOOST_CHECK_NO_THROW(failure ? std::rethrow_exception(failure) : void());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
