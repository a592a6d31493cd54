// The examples of the reference for stores and observers. A part has the name of its header. The
// stores of servers are made, and connect to none.
#include "expect.hpp"

#include <leasehold.hpp>
#include <leasehold/extras/guard/file.hpp>
#include <leasehold/extras/guard/http.hpp>
#include <leasehold/extras/guard/redis.hpp>
#include <leasehold/extras/guard/sql.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// [make_store]
/// Makes the store of a URL from a configuration file.
std::shared_ptr<leasehold::store> configured_store(const std::string& url)
{
    try {
        return leasehold::make_store(url);
    }
    catch (const boost::system::system_error& failed) {
        std::cerr << failed.what() << '\n'; // names the wrong part of the URL
        return nullptr;
    }
}
// [/make_store]

// [store]
/// Whether waiters of this store are served in order.
bool serves_in_order(const leasehold::store& store)
{
    return store.traits().queues;
}
// [/store]

// [memory]
/// A unit test: a lock that an operator deletes is lost.
asio::awaitable<bool> loses_a_deleted_lock(leasehold::client& locks, leasehold::memory_space& space)
{
    const leasehold::mutex report(locks, "report", {.lease_time = 300ms});
    leasehold::lease lease = co_await report.async_lock();
    space.erase("report");
    leasehold::error_code reason;
    co_await lease.async_wait_lost(asio::redirect_error(reason));
    co_return reason == leasehold::errc::lost;
}
// [/memory]

// [redis]
/// A store in the Redis of the application, with a prefix for all keys.
std::shared_ptr<leasehold::store> redis_of_the_shop()
{
    leasehold::redis_config settings("rediss://redis.example:6380");
    settings.prefix = "shop:";
    return leasehold::make_redis_store(settings);
}
// [/redis]

// [redis_config]
/// A user whose password is in a mounted secret, and may change while the program runs.
leasehold::redis_config with_a_secret()
{
    leasehold::redis_config settings("redis+sentinel://s1:26379,s2:26379,s3:26379/mymaster");
    settings.user = "locks";
    settings.password_file = "/run/secrets/redis";
    settings.validate(); // throws if a field is wrong
    return settings;
}
// [/redis_config]

#if defined(LEASEHOLD_HAS_POSTGRES)
// [postgres]
std::shared_ptr<leasehold::store> postgres_of_the_shop()
{
    return leasehold::make_postgres_store("postgres://locks@db.example/shop");
}
// [/postgres]

// [postgres_config]
leasehold::postgres_config primary_or_standby()
{
    leasehold::postgres_config settings("postgres://locks@db1,db2/shop?sslmode=verify-full");
    settings.password_file = "/run/secrets/postgres";
    settings.durability = leasehold::postgres_config::commit_durability::full;
    return settings;
}
// [/postgres_config]
#endif

#if defined(LEASEHOLD_HAS_MYSQL)
// [mysql]
std::shared_ptr<leasehold::store> mysql_of_the_shop()
{
    return leasehold::make_mysql_store("mysql://locks@db.example/shop");
}
// [/mysql]

// [mysql_config]
leasehold::mysql_config source_or_replica()
{
    leasehold::mysql_config settings("mariadb://locks@db1,db2/shop?sslmode=verify-full");
    settings.password_file = "/run/secrets/mysql";
    return settings;
}
// [/mysql_config]
#endif

#if defined(LEASEHOLD_HAS_ZOOKEEPER)
// [zookeeper]
std::shared_ptr<leasehold::store> zookeeper_of_the_shop()
{
    return leasehold::make_zookeeper_store("zookeeper://zk1,zk2,zk3/shop/locks");
}
// [/zookeeper]

// [zookeeper_config]
leasehold::zookeeper_config short_session()
{
    leasehold::zookeeper_config settings("zookeeper://zk1,zk2,zk3/shop/locks");
    settings.session = 6s; // a crashed holder blocks others for at most this time
    return settings;
}
// [/zookeeper_config]
#endif

#if defined(LEASEHOLD_HAS_ETCD)
// [etcd]
std::shared_ptr<leasehold::store> etcd_of_the_shop()
{
    return leasehold::make_etcd_store("etcd://etcd1,etcd2,etcd3/shop/locks");
}
// [/etcd]

// [etcd_config]
leasehold::etcd_config long_session()
{
    leasehold::etcd_config settings("etcd://etcd1,etcd2,etcd3/shop/locks");
    settings.session = 30s; // a crashed holder blocks others for at most this time
    return settings;
}
// [/etcd_config]
#endif

// [observer]
class lost_counter final : public leasehold::observer
{
public:
    [[nodiscard]] bool only_problems() const noexcept override { return true; }

    void lost(std::string_view, std::uint64_t, duration, leasehold::error_code,
              const leasehold::diagnostics&) noexcept override
    {
        ++count;
    }

    int count = 0; // changed on the strand of the client
};
// [/observer]

// [observer_group]
/// Keeps the lines on standard error beside another observer.
leasehold::client watched_client(asio::io_context& context,
                                 std::shared_ptr<leasehold::observer> other)
{
    std::vector<std::shared_ptr<leasehold::observer>> members = {leasehold::log_to_stderr(), other};
    return leasehold::client(
        context, "memory:", std::make_shared<leasehold::observer_group>(std::move(members)));
}
// [/observer_group]

// [log_observer]
leasehold::client logged_client(asio::io_context& context)
{
    const auto problems = std::make_shared<leasehold::log_observer>(
        [](std::string_view line) { std::clog << "locks: " << line << '\n'; });
    return leasehold::client(context, "memory:", problems);
}
// [/log_observer]

// [extras_guard_error]
/// Rejects a write before it is sent, if the lease has no valid fence.
bool may_write(const leasehold::lease& lease)
{
    return !leasehold::guard::check_fence(lease.fence());
}
// [/extras_guard_error]

// [extras_guard_file]
leasehold::error_code write_file(const std::string& path, const leasehold::lease& lease)
{
    const leasehold::guard::file file(path);
    return file.replace(lease.fence(), "a;b\n"); // errc::stale_fence: nothing was written
}
// [/extras_guard_file]

// [extras_guard_http]
/// The status of the reply to a PUT, in a server that keeps the largest fence.
unsigned put(std::optional<std::string_view> field, std::uint64_t& largest)
{
    leasehold::error_code failed;
    const std::uint64_t fence = leasehold::guard::fence_of_http(field, failed);
    if (!failed && fence < largest)
        failed = leasehold::guard::errc::stale_fence;
    if (!failed)
        largest = fence; // and write, in the same transaction
    return leasehold::guard::http_status(failed);
}
// [/extras_guard_http]

// [extras_guard_redis]
/// A write of two keys. Pass it to leasehold::guard::async_write.
leasehold::guard::redis_write stock_of(const leasehold::lease& lease, int left)
{
    leasehold::guard::redis_write write("{stock:7}:fence", lease.fence());
    write.push("HSET", "{stock:7}", "left", left).push("INCR", "{stock:7}:sold");
    return write;
}
// [/extras_guard_redis]

// [extras_guard_sql]
/// The statement of a guarded write. Its parameters: the balance, the fence, the id.
std::string update_of_a_balance()
{
    using namespace leasehold::guard;
    const fenced_row accounts(sql_dialect::postgresql, {.table = "account", .key = "id"});
    return accounts.update({"balance"}); // one affected row: the write was accepted
}
// [/extras_guard_sql]

void check_the_guards(const leasehold::lease& lease)
{
    expect(may_write(lease) && !may_write(leasehold::lease()), "a lease has a fence");
    expect(write_file("/dev/null/none", lease).failed(), "there is no such folder");
    std::uint64_t largest = 0;
    expect(put("7", largest) == 204 && put("6", largest) == 412, "6 is stale");
    expect(!stock_of(lease, 3).check(), "both keys are in one slot");
    expect(update_of_a_balance().starts_with("UPDATE"), "a statement");
}

asio::awaitable<void> all(leasehold::client& locks, leasehold::memory_space& space)
{
    const bool lost = co_await loses_a_deleted_lock(locks, space);
    expect(lost, "the lock was deleted");
    const leasehold::mutex report(locks, "report");
    leasehold::lease lease = co_await report.async_lock();
    check_the_guards(lease);
    co_await lease.async_release();
    co_await locks.async_shutdown();
}

void make_the_stores()
{
    expect(configured_store("memory:") && !configured_store("http://h"), "one is a store");
    expect(serves_in_order(*redis_of_the_shop()), "it has a queue");
    expect(with_a_secret().addresses.size() == 3, "three Sentinels");
#if defined(LEASEHOLD_HAS_POSTGRES)
    expect(postgres_of_the_shop() && primary_or_standby().addresses.size() == 2, "two servers");
#endif
#if defined(LEASEHOLD_HAS_MYSQL)
    expect(mysql_of_the_shop() && source_or_replica().addresses.size() == 2, "two servers");
#endif
#if defined(LEASEHOLD_HAS_ZOOKEEPER)
    expect(zookeeper_of_the_shop() && short_session().session == 6s, "a session");
#endif
#if defined(LEASEHOLD_HAS_ETCD)
    expect(etcd_of_the_shop() && long_session().session == 30s, "a session");
#endif
}

} // namespace

int main()
try {
    make_the_stores();
    asio::io_context context;
    const leasehold::client watched = watched_client(context, std::make_shared<lost_counter>());
    const leasehold::client logged = logged_client(context);
    const auto space = std::make_shared<leasehold::memory_space>();
    const auto counter = std::make_shared<lost_counter>();
    leasehold::client locks(context, leasehold::make_memory_store(space), counter);
    locks.async_run(asio::detached);
    std::exception_ptr wrong;
    asio::co_spawn(context, all(locks, *space), [&](std::exception_ptr failure) {
        wrong = failure;
        if (wrong)
            locks.cancel();
    });
    context.run();
    if (wrong)
        std::rethrow_exception(wrong);
    expect(counter->count == 1, "one lease was lost");
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
