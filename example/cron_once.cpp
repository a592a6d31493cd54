// A job that must run once per tick, although several processes can run it. The process that holds
// the lock runs the job, and the others wait for the lock. The runner is killed midway, and another
// process continues the job.
#include "support/arguments.hpp"
#include "support/lines.hpp"
#include "support/redis.hpp"
#include "support/rethrow.hpp"
#include "support/worker.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace redis = boost::redis;
using steady = std::chrono::steady_clock;

namespace {

struct options
{
    std::string url = "redis://127.0.0.1:6379";
    int processes = 3;
    int ticks = 20;
    int tick_ms = 100;
    int lease_ms = 1'000;
    std::string key;    // of the journal
    std::string worker; // number of this process; empty in the parent
};

/// The record of the job: a list in Redis with an entry `<tick> <process> <fence>` for each run.
class journal
{
public:
    journal(asio::io_context& context, const options& wanted)
        : connection_(example::connect(context.get_executor(), wanted.url)), key_(wanted.key)
    {}

    asio::awaitable<void> open() { return example::expect_server(*connection_); }

    asio::awaitable<std::vector<std::string>> entries()
    {
        redis::request request;
        request.push("LRANGE", key_, 0, -1);
        redis::response<std::vector<std::string>> response;
        co_await connection_->async_exec(request, response);
        co_return std::get<0>(response).value();
    }

    // [once]
    /// Runs the job once. False if a larger fence has written: the caller is no longer the runner.
    asio::awaitable<bool> write(int tick, const std::string& process, std::uint64_t fence)
    {
        static constexpr char script[] = R"(
            local last = redis.call('LINDEX', KEYS[1], -1)
            if last and tonumber(ARGV[3]) < tonumber(last:match('%d+$')) then return 0 end
            redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
            redis.call('EXPIRE', KEYS[1], 3600)
            return 1)";
        redis::request request;
        request.push("EVAL", script, 1, key_, tick, process, fence);
        redis::response<int> response;
        co_await connection_->async_exec(request, response);
        co_return std::get<0>(response).value() == 1;
    }
    // [/once]

    asio::awaitable<void> remove()
    {
        redis::request request;
        request.push("DEL", key_);
        co_await connection_->async_exec(request, redis::ignore);
    }

    void close() { connection_->cancel(); }

private:
    std::shared_ptr<redis::connection> connection_;
    std::string key_;
};

/// A process that can run the job.
class candidate
{
public:
    explicit candidate(const options& wanted)
        : wanted_(wanted),
          journal_(context_, wanted),
          locks_(context_, wanted.url),
          lock_(locks_, wanted.key + ":lock",
                {.lease_time = std::chrono::milliseconds(wanted.lease_ms)}),
          orders_(context_.get_executor(), ::dup(STDIN_FILENO))
    {}

    void run()
    {
        locks_.async_run(asio::detached);
        asio::co_spawn(context_, stand(), example::rethrow);
        asio::co_spawn(context_, stop_with_parent(), example::rethrow);
        context_.run();
    }

private:
    /// Waits for the lock, again after each loss: a lost lock ends the job, not this process.
    asio::awaitable<void> stand()
    {
        for (;;) {
            try {
                co_await leasehold::with_lock(
                    lock_, [this](leasehold::lease& held) { return run_job(held); });
            }
            catch (const boost::system::system_error& ended) {
                if (ended.code() == leasehold::errc::shut_down)
                    co_return;
                if (ended.code() != leasehold::condition::lease_ended)
                    throw;
            }
        }
    }

    asio::awaitable<void> run_job(leasehold::lease& held)
    {
        std::cout << "runs " << held.fence() << std::endl;
        const auto before = co_await journal_.entries();
        int tick = before.empty() ? 0 : std::stoi(before.back());
        asio::steady_timer timer(context_);
        for (;;) {
            timer.expires_after(std::chrono::milliseconds(wanted_.tick_ms));
            co_await timer.async_wait();
            if (!co_await journal_.write(++tick, wanted_.worker, held.fence()))
                co_return;
            std::cout << "tick " << tick << std::endl;
        }
    }

    asio::awaitable<void> stop_with_parent()
    {
        // A variable, because g++ 12 miscompiles a temporary in the condition.
        while (const auto order = co_await orders_.next())
            std::cerr << "unknown order: " << *order << '\n';
        co_await locks_.async_shutdown();
        journal_.close();
    }

    const options& wanted_;
    asio::io_context context_{1};
    journal journal_;
    leasehold::client locks_;
    leasehold::mutex lock_;
    example::lines orders_;
};

/// The parent process: starts the candidates, kills the runner midway, and checks the journal.
class supervisor
{
public:
    supervisor(const options& wanted, const char* program) : wanted_(wanted)
    {
        for (int number = 1; number <= wanted.processes; ++number) {
            const std::vector<std::string> arguments{"--worker",   std::to_string(number),
                                                     "--key",      wanted.key,
                                                     "--url",      wanted.url,
                                                     "--tick-ms",  std::to_string(wanted.tick_ms),
                                                     "--lease-ms", std::to_string(wanted.lease_ms)};
            candidates_.emplace_back(program, arguments);
        }
    }

    bool run()
    {
        asio::io_context context(1);
        journal written(context, wanted_);
        asio::co_spawn(context, start(context, written), example::rethrow);
        context.run();
        return passed_;
    }

private:
    asio::awaitable<void> start(asio::io_context& context, journal& written)
    {
        co_await written.open();
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            asio::co_spawn(context, listen(context, written, i), example::rethrow);
    }

    asio::awaitable<void> listen(asio::io_context& context, journal& written, std::size_t index)
    {
        example::lines output(context.get_executor(), candidates_[index].take_output());
        while (const auto line = co_await output.next()) {
            std::istringstream words(*line);
            std::string what;
            std::uint64_t number = 0;
            words >> what >> number;
            if (what == "runs")
                heard_of_runner(index, number);
            else if (what == "tick")
                heard_of_tick(index, static_cast<int>(number));
        }
        if (++ended_ == wanted_.processes)
            co_await check(written);
    }

    void heard_of_runner(std::size_t index, std::uint64_t fence)
    {
        std::cout << "process " << index + 1 << " runs the job, fencing token " << fence;
        if (killed_) {
            const std::chrono::duration<double> took = steady::now() - *killed_;
            std::cout << std::fixed << std::setprecision(2) << ", " << took.count()
                      << " s after the kill; the lease time is " << wanted_.lease_ms / 1000.0
                      << " s";
        }
        std::cout << '\n';
    }

    void heard_of_tick(std::size_t index, int tick)
    {
        if (!killed_ && tick >= wanted_.ticks / 2) {
            candidates_[index].kill();
            killed_ = steady::now();
            std::cout << "process " << index + 1 << " was killed after tick " << tick << '\n';
        }
        if (tick >= wanted_.ticks) {
            for (example::worker& candidate : candidates_)
                candidate.close_input();
        }
    }

    /// Checks that each tick ran once, in order, by at least two processes, with rising fences.
    asio::awaitable<void> check(journal& written)
    {
        const auto entries = co_await written.entries();
        bool good = static_cast<int>(entries.size()) >= wanted_.ticks;
        int expected = 0;
        std::uint64_t newest = 0;
        std::string runners;
        for (const std::string& entry : entries) {
            std::istringstream words(entry);
            int tick = 0;
            std::string process;
            std::uint64_t fence = 0;
            words >> tick >> process >> fence;
            good = good && tick == ++expected && fence >= newest;
            if (fence > newest)
                runners += (runners.empty() ? "" : ", then ") + process;
            newest = fence;
        }
        good = good && runners.find(',') != std::string::npos;
        std::cout << entries.size() << " ticks, " << (good ? "each ran once" : "NOT each once")
                  << "; run by process " << runners << '\n';
        co_await written.remove();
        written.close();
        passed_ = good;
    }

    const options& wanted_;
    std::deque<example::worker> candidates_;
    std::optional<steady::time_point> killed_;
    int ended_ = 0;
    bool passed_ = false;
};

} // namespace

int main(int argc, char** argv)
try {
    options wanted;
    example::arguments line(
        "Runs a job once per tick in one of several processes, kills that process, and "
        "continues the job in another.");
    line.url(wanted.url, example::stores::servers_only);
    line.number("--processes", wanted.processes, 2, 64, "processes that can run the job");
    line.number("--ticks", wanted.ticks, 2, 100'000, "number of runs of the job");
    line.number("--tick-ms", wanted.tick_ms, 1, 60'000, "pause between two runs");
    line.number("--lease-ms", wanted.lease_ms, 100, 600'000, "lease time of the lock");
    line.hidden("--key", wanted.key);
    line.hidden("--worker", wanted.worker);
    line.parse(argc, argv);

    if (!wanted.worker.empty()) {
        candidate(wanted).run();
        return 0;
    }
    wanted.key = example::new_key("cron:");
    return supervisor(wanted, argv[0]).run() ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
