#ifndef LEASEHOLD_TEST_QUORUM_SCRIPTED_QUORUM_HPP
#define LEASEHOLD_TEST_QUORUM_SCRIPTED_QUORUM_HPP

#include <boost/test/unit_test.hpp>

#include "support/manual_time.hpp"
#include "support/scripted_member.hpp"

#include "redis/redlock/quorum_store.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// The store of a quorum, over members whose replies the test supplies.
class scripted_quorum : public store_listener
{
public:
    using ballot_t = quorum::ballot_reply::outcome;
    using released_t = release_reply::outcome;

    /// @param own The record of this client.
    explicit scripted_quorum(unsigned size = 3, unsigned grants = 2, const client_info& own = {})
        : members(size)
    {
        std::vector<std::unique_ptr<quorum::member>> made;
        for (scripted_member& each : members) {
            each->own = own;
            made.push_back(each.make());
        }
        locks = quorum::make_store(std::move(made), grants, time.make_source());
        call([&] { locks->open(strand, *this); });
    }
    ~scripted_quorum()
    {
        call([&] { locks->close(); });
    }

    /// All servers are reachable, and are members.
    void connect()
    {
        for (unsigned i = 0; i < members.size(); ++i)
            connect(i);
        BOOST_TEST_REQUIRE(connected == 1);
    }

    void connect(unsigned i, const quorum::inspect_answer& says = {.is_member = true, .epoch = 1})
    {
        reach(i);
        answer_inspect(i, says);
    }

    /// The server is reachable, and is inspected.
    void reach(unsigned i)
    {
        members[i].post([&, i] { members[i]->told->on_reachable(i); });
        poll();
    }

    void answer_inspect(unsigned i, const quorum::inspect_answer& says)
    {
        BOOST_TEST_REQUIRE(!members[i]->inspections.empty());
        auto inspections = std::exchange(members[i]->inspections, {});
        for (auto& each : inspections)
            members[i].post(
                [done = std::move(each), says]() mutable { std::move(done)(error_code(), says); });
        poll();
    }

    void fail_inspection(unsigned i, errc code)
    {
        BOOST_TEST_REQUIRE(!members[i]->inspections.empty());
        auto inspections = std::exchange(members[i]->inspections, {});
        for (auto& each : inspections)
            members[i].post([done = std::move(each), code]() mutable {
                std::move(done)(code, quorum::inspect_answer());
            });
        poll();
    }

    void disconnect(unsigned i, errc code = errc::store_unavailable)
    {
        members[i].post([&, i, code] { members[i]->told->on_unreachable(i, code, nullptr); });
        poll();
    }

    void acquire(std::chrono::milliseconds lease = std::chrono::seconds(10),
                 std::uint32_t fences = 1)
    {
        got.reset();
        const int number = ++acquires;
        call([&] {
            locks->async_acquire({.name = "lock",
                                  .owner = "a:1",
                                  .entry = {},
                                  .lease = lease,
                                  .fences = fences,
                                  .budget = std::chrono::seconds(5)},
                                 [&, number](error_code code, acquire_reply reply) {
                                     if (number != acquires)
                                         return; // a reply that is not needed
                                     BOOST_TEST(!got.has_value());
                                     got.emplace(code, std::move(reply));
                                 });
        });
    }

    void reenter()
    {
        call([&] {
            locks->async_acquire(
                {.name = "lock",
                 .owner = "a:1",
                 .entry = "b:2",
                 .lease = std::chrono::seconds(10),
                 .fences = 1,
                 .budget = std::chrono::seconds(5)},
                [&](error_code code, acquire_reply reply) { got.emplace(code, std::move(reply)); });
        });
    }

    void describe()
    {
        call([&] {
            locks->async_describe("0a1b2c3d", [&](client_info said) {
                BOOST_TEST(!described.has_value());
                described = std::move(said);
            });
            BOOST_TEST(!described.has_value()); // not inside the call
        });
    }

    void answer_question(unsigned i, const std::string& program)
    {
        BOOST_TEST_REQUIRE(!members[i]->questions.empty());
        client_info said;
        said.program = program;
        members[i].post([done = std::move(members[i]->questions.back()), said]() mutable {
            std::move(done)(std::move(said));
        });
        members[i]->questions.pop_back();
        poll();
    }

    void let_in(unsigned i, quorum::reentered says, error_code failed = {})
    {
        BOOST_TEST_REQUIRE(!members[i]->entries.empty());
        members[i].post([done = std::move(members[i]->entries.back()), says, failed]() mutable {
            std::move(done)(failed, says);
        });
        poll();
    }

    void release(const char* owner = "a:1", const char* entry = "", const char* name = "lock")
    {
        call([&] {
            locks->async_release({.name = name, .owner = owner, .entry = entry},
                                 [&](error_code code, release_reply reply) {
                                     left.emplace(code, std::move(reply));
                                 });
        });
    }

    bool drain()
    {
        bool drains = false;
        call([&] {
            drains = locks->async_drain([&] { ++drained; });
            BOOST_TEST(drained == 0); // not inside the call
        });
        return drains;
    }

    void renew(std::chrono::milliseconds lease = std::chrono::seconds(10))
    {
        const renewal one[] = {{"lock", "a:1", lease}};
        renew(one);
    }

    void renew(std::span<const renewal> asked)
    {
        call([&] {
            locks->async_renew(asked, [&](error_code code, renew_reply reply) {
                renewed.emplace(code, std::move(reply));
            });
        });
    }

    void vote(unsigned i, ballot_t says, std::uint64_t largest = 0,
              std::chrono::milliseconds remaining = {}, std::uint64_t epoch = 0)
    {
        BOOST_TEST_REQUIRE(!members[i]->votes.empty());
        members[i].post([done = std::move(members[i]->votes.back().done), says, largest, remaining,
                         epoch]() mutable {
            std::move(done)(error_code(), quorum::ballot_reply{.result = says,
                                                               .largest = largest,
                                                               .epoch = epoch,
                                                               .remaining = remaining});
        });
        poll();
    }

    void fail_vote(unsigned i, errc code)
    {
        members[i].post([done = std::move(members[i]->votes.back().done), code]() mutable {
            std::move(done)(code, quorum::ballot_reply());
        });
        poll();
    }

    void keep(unsigned i, quorum::kept says)
    {
        members[i].post([done = std::move(members[i]->renewals.back().done), says]() mutable {
            std::move(done)(std::vector<quorum::kept>{says});
        });
        poll();
    }

    void free(unsigned i, released_t says, std::int64_t receivers = 0)
    {
        answer_release(i, {}, {.result = says, .receivers = receivers});
    }

    void answer_release(unsigned i, error_code failed, const quorum::release_answer& says)
    {
        members[i].post([done = std::move(members[i]->releases.back().done), failed,
                         says]() mutable { std::move(done)(failed, says); });
        poll();
    }

    void watch(std::string_view name)
    {
        call([&] { locks->watch(name); });
    }
    void unwatch(std::string_view name)
    {
        call([&] { locks->unwatch(name); });
    }

    /// The member reports releases of that name from now on.
    void watches(unsigned i, const char* name = "lock")
    {
        members[i].post([&, i, name] { members[i]->told->on_watching(i, name); });
        poll();
    }
    void is_deaf(unsigned i)
    {
        members[i].post([&, i] { members[i]->told->on_unsubscribed(i); });
        poll();
    }
    /// The name was released at this member. `sign` is the same at all members for one release.
    void notify_release(unsigned i, const char* sign, const char* name = "lock")
    {
        members[i].post([&, i, sign, name] { members[i]->told->on_released(i, name, sign, 0); });
        poll();
    }

    void pass(std::chrono::milliseconds by)
    {
        time.set(time.now() + by);
        time.wake();
        poll();
    }

    void poll()
    {
        context.restart();
        context.poll();
    }

    [[nodiscard]] std::size_t releases() const
    {
        std::size_t all = 0;
        for (const scripted_member& each : members)
            all += each->releases.size();
        return all;
    }

    asio::io_context context;
    asio::strand<asio::io_context::executor_type> strand = asio::make_strand(context);
    manual_time time;
    std::vector<scripted_member> members;
    std::shared_ptr<store> locks;
    std::optional<std::pair<error_code, acquire_reply>> got;
    std::optional<std::pair<error_code, release_reply>> left;
    std::optional<std::pair<error_code, renew_reply>> renewed;
    std::optional<client_info> described;
    int acquires = 0;
    int connected = 0;
    int disconnected = 0;
    int drained = 0;
    error_code why;
    std::vector<std::string> wakeups;
    std::function<void()> on_next_wakeup; ///< Called during the next wake-up.

private:
    template <class Function>
    void call(Function function)
    {
        asio::post(strand, function);
        poll();
    }

    void on_wakeup(std::string_view name) override
    {
        wakeups.emplace_back(name);
        if (on_next_wakeup)
            std::exchange(on_next_wakeup, nullptr)();
    }
    void on_connected(store_partition) override { ++connected; }
    void on_disconnected(store_partition, error_code code) override
    {
        ++disconnected;
        why = code;
    }
};

} // namespace leasehold::test

#endif
