// External clients do not use the queue. They poll for a lock that clients of this library pass to
// each other.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// Acquires and releases the lock until it is stopped. With two of these, the lock is never free.
class busy_client
{
public:
    busy_client(const redis_config& where, const lock_options& options, std::atomic<bool>& stop)
        : stop_(stop), client_(where), thread_([this, options] { run(options); })
    {}
    ~busy_client() { stop_ = true; }
    busy_client(const busy_client&) = delete;
    busy_client& operator=(const busy_client&) = delete;

    [[nodiscard]] int failures() const noexcept { return failures_; }
    [[nodiscard]] std::uint64_t leases() const noexcept { return leases_; }
    void join() { thread_.join(); }

private:
    void run(const lock_options& options)
    {
        while (!stop_) {
            taken got = client_.lock(stock, options);
            const bool rises = !got.code && got.held.fence() > last_;
            last_ = got.code ? last_ : got.held.fence();
            if (!rises || client_.release(std::move(got.held)))
                ++failures_;
            ++leases_;
        }
    }

    std::atomic<bool>& stop_;
    client_thread client_;
    std::uint64_t last_ = 0;
    std::atomic<int> failures_{0};
    std::atomic<std::uint64_t> leases_{0};
    std::jthread thread_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(external_share)

BOOST_AUTO_TEST_CASE(external_client_acquires_a_busy_lock)
{
    const redis_server server;
    redis_config where = at(server);
    where.layout = redis_config::key_layout::native;
    lock_options options = long_leases();
    options.handoff_count = 0;
    options.external_share = 50;
    resp_client external(server.endpoint());
    std::atomic<bool> stop = false;
    busy_client one(where, options, stop);
    busy_client two(where, options, stop);
    for (int times = 0; times < 3; ++times) {
        const auto before = one.leases() + two.leases();
        wait_until([&] { return one.leases() + two.leases() > before + 10; });
        wait_until([&] {
            return external.maybe_string({"SET", stock, "another owner", "NX", "PX", "60000"})
                .has_value();
        });
        // The lock has no other holder, and its value is unchanged.
        BOOST_TEST(external.string({"GET", stock}) == "another owner");
        BOOST_TEST(external.integer({"DEL", stock}) == 1);
    }
    stop = true;
    one.join();
    two.join();
    BOOST_TEST(one.failures() == 0);
    BOOST_TEST(two.failures() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
