// A minimal lock through a bare Boost.Redis connection: SET NX PX, and a script that compares and
// deletes. See README.md in this folder.
#include "protocol.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string_view>

namespace leasehold::benchmark::peers {

namespace redis = boost::redis;
using milliseconds = std::chrono::milliseconds;

class server
{
public:
    server(asio::io_context& context, const std::string& port, milliseconds lease_time)
        : connection(std::make_shared<redis::connection>(
              context, redis::logger(redis::logger::level::emerg))),
          lease(lease_time)
    {
        redis::config where;
        where.addr = {"127.0.0.1", port};
        connection->async_run(where, [keep = connection](boost::system::error_code) {});
    }
    ~server() { connection->cancel(); }
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    asio::awaitable<void> load()
    {
        redis::request request;
        request.push("SCRIPT", "LOAD",
                     "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                     "return redis.call('DEL', KEYS[1]) end return 0");
        request.push("SCRIPT", "LOAD",
                     "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                     "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0");
        redis::response<std::string, std::string> shas;
        co_await connection->async_exec(request, shas);
        compare_delete = std::get<0>(shas).value();
        compare_expire = std::get<1>(shas).value();
    }

    std::string next_owner() { return process_ + std::to_string(++owners_); }

    std::shared_ptr<redis::connection> connection;
    milliseconds lease;
    std::string compare_delete, compare_expire;
    std::minstd_rand random{std::random_device{}()};

private:
    std::string process_ = std::to_string(std::random_device{}()) + ':' +
                           std::to_string(std::random_device{}()) + ':';
    std::uint64_t owners_ = 0;
};

struct holding
{
    std::string owner;
    std::shared_ptr<asio::steady_timer> renewal; ///< Cancelled by the release.
};

class polled_lock
{
public:
    polled_lock(server& at, std::size_t number) : at_(&at), name_("peers:" + std::to_string(number))
    {}

    asio::awaitable<holding> lock()
    {
        holding held{at_->next_owner(), nullptr};
        redis::request request;
        request.push("SET", name_, held.owner, "NX", "PX", at_->lease.count());
        for (;;) {
            redis::response<std::optional<std::string>> answer;
            co_await at_->connection->async_exec(request, answer);
            if (std::get<0>(answer).value())
                co_return held;
            std::uniform_int_distribution<int> pause(1, 20);
            asio::steady_timer timer(at_->connection->get_executor(),
                                     milliseconds(pause(at_->random)));
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    asio::awaitable<void> unlock(holding& held)
    {
        if (held.renewal)
            held.renewal->cancel();
        redis::request request;
        request.push("EVALSHA", at_->compare_delete, 1, name_, held.owner);
        redis::response<std::int64_t> answer;
        co_await at_->connection->async_exec(request, answer);
        if (std::get<0>(answer).value() != 1)
            throw std::runtime_error("a lock was lost");
    }

    void keep(holding& held) const
    {
        held.renewal = std::make_shared<asio::steady_timer>(at_->connection->get_executor());
        asio::co_spawn(at_->connection->get_executor(),
                       renew(*at_, name_, held.owner, held.renewal), asio::detached);
    }

private:
    static asio::awaitable<void> renew(server& at, std::string name, std::string owner,
                                       std::shared_ptr<asio::steady_timer> timer)
    {
        redis::request request;
        request.push("EVALSHA", at.compare_expire, 1, name, owner, at.lease.count());
        redis::response<std::int64_t> answer;
        for (;;) {
            timer->expires_after(at.lease / 3);
            boost::system::error_code stopped;
            co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, stopped));
            if (stopped)
                co_return;
            co_await at.connection->async_exec(request, answer);
            if (std::get<0>(answer).value() != 1)
                co_return; // released meanwhile, or lost, which the driver detects
        }
    }

    server* at_;
    std::string name_;
};

} // namespace leasehold::benchmark::peers

// PORT LEASE [polling]
int main(int count, char** words)
{
    if (count < 3) {
        std::cerr << "usage: " << words[0] << " PORT LEASE [polling]\n";
        return 2;
    }
    namespace bench = leasehold::benchmark;
    try {
        const int lease = std::atoi(words[2]);
        boost::asio::io_context context(1);
        const std::chrono::milliseconds time(lease > 0 ? lease : 30'000);
        bench::peers::server at(context, words[1], time);
        bench::run(context, at.load());
        std::cout << "{\"key\":\"peers:0\"}" << std::endl;
        const bool polls = count > 3 && std::string_view(words[3]) == "polling";
        bench::peers::serve<bench::peers::holding>(
            context, [&](std::size_t number) { return bench::peers::polled_lock(at, number); },
            polls ? bench::peers::polling_patience : std::chrono::microseconds());
    }
    catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
