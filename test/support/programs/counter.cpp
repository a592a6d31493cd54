// A process that counts under a lock, with many coroutines, until the key `stop` exists:
//   counter URL COROUTINES LEASE_MS
// Each reads the counter, waits a little, and writes the value plus one, all while it holds the
// lock. The store checks the promises of the lock (see the scripts) and puts each violation into
// `complaints`. Prints "holding" at its first entry, and "wrote N" at its end.
#include "support/client_thread.hpp"

#include <leasehold/redis.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
namespace asio = boost::asio;

// ARGV fence, process. Marks the holder as inside, and returns the counter. -1 if a larger fence
// was inside before, -2 at the end of the test. A marker that still exists belongs to a holder
// whose lease has ended, with an older fence.
const std::string reenter_script = R"(
local mine, last = tonumber(ARGV[1]), tonumber(redis.call('GET', 'last fence') or '0')
if mine == last then
    redis.call('RPUSH', 'complaints', 'fence ' .. ARGV[1] .. ' was given out twice')
end
if mine <= last then
    return -1
end
if redis.call('EXISTS', 'inside') == 1 then
    redis.call('INCR', 'overtaken')
end
redis.call('SET', 'last fence', ARGV[1])
redis.call('SET', 'inside', ARGV[2])
if redis.call('EXISTS', 'stop') == 1 then
    return -2
end
return tonumber(redis.call('GET', 'counter') or '0')
)";

// ARGV fence, process, value. A fenced write, as the user of a lock should make it: a superseded
// holder writes nothing. The others must each write the next number, otherwise one was lost or
// doubled.
const std::string write_script = R"(
if redis.call('GET', 'last fence') ~= ARGV[1] then
    redis.call('INCR', 'refused')
    return 0
end
local before = tonumber(redis.call('GET', 'counter') or '0')
if tonumber(ARGV[3]) ~= before + 1 then
    redis.call('RPUSH', 'complaints', 'wrote ' .. ARGV[3] .. ' over ' .. before)
end
redis.call('SET', 'counter', ARGV[3])
redis.call('DEL', 'inside')
return 1
)";

// ARGV fence. Removes the marker without a write.
const std::string leave_script = R"(
if redis.call('GET', 'last fence') == ARGV[1] then
    redis.call('DEL', 'inside')
end
return 0
)";

class worker
{
public:
    worker(const client& locks, resp_client& store, const lock_options& options)
        : lock_(locks, "counted", options), store_(store)
    {}

    asio::awaitable<void> run()
    {
        asio::steady_timer pause(co_await asio::this_coro::executor);
        for (std::int64_t seen = 0; seen != -2;) {
            lease held = co_await lock_.async_lock(asio::use_awaitable);
            if (!std::exchange(said_, true))
                std::cout << "holding" << std::endl;
            seen = evaluate(reenter_script, held);
            if (seen == -1) {
                overtaken(held);
            }
            else if (seen >= 0) {
                pause.expires_after(std::chrono::milliseconds(1));
                co_await pause.async_wait(asio::use_awaitable);
                if (!held.valid())
                    evaluate(leave_script, held);
                else if (evaluate(write_script, held, seen + 1) == 1)
                    ++writes;
                else
                    overtaken(held);
            }
            else {
                evaluate(leave_script, held);
            }
            // The lease may have ended before, which the store has seen.
            boost::system::error_code ended;
            co_await held.async_release(asio::redirect_error(asio::use_awaitable, ended));
        }
    }

    static inline std::int64_t writes = 0;

private:
    std::int64_t evaluate(const std::string& script, const lease& held, std::int64_t value = 0)
    {
        return store_.integer({"EVAL", script, "0", std::to_string(held.fence()),
                               std::to_string(::getpid()), std::to_string(value)});
    }

    /// Another holder is inside: this lease cannot be valid, however late it is checked.
    void overtaken(const lease& held)
    {
        if (held.valid())
            store_.done(
                {"RPUSH", "complaints",
                 "valid with fence " + std::to_string(held.fence()) + " while another was in"});
    }

    mutex lock_;
    resp_client& store_;
    static inline bool said_ = false;
};

} // namespace

int main(int count, char** words)
{
    if (count != 4)
        return 2;
    asio::io_context context(1);
    const redis_config settings = at(std::string(words[1]));
    client locks(context, make_redis_store(settings));
    locks.async_run([](error_code) {});
    resp_client store(local_endpoint(settings.unix_socket),
                      std::chrono::seconds(60)); // the process may be stopped meanwhile
    lock_options options;
    options.lease_time = std::chrono::milliseconds(std::stoi(words[3]));
    options.handoff_time = std::chrono::milliseconds(5);
    int running = std::stoi(words[2]);
    std::vector<std::unique_ptr<worker>> workers;
    bool failed = false;
    for (int i = running; i > 0; --i) {
        workers.push_back(std::make_unique<worker>(locks, store, options));
        asio::co_spawn(context, workers.back()->run(), [&](std::exception_ptr failure) {
            if (failure) {
                try {
                    std::rethrow_exception(failure);
                }
                catch (const std::exception& e) {
                    std::cout << "failed " << e.what() << std::endl;
                }
                failed = true;
            }
            if (--running == 0)
                locks.cancel();
        });
    }
    context.run();
    std::cout << "wrote " << worker::writes << std::endl;
    return failed ? 1 : 0;
}
