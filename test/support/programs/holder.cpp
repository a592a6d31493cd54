// A process that takes locks by commands, one a line. `holder URL` starts it.
//   lock NAME LEASE_MS [GRACE_MS]  → "waiting" once if it is held; "locked FENCE" or "failed WHY"
//   try NAME LEASE_MS              → the same, at once
//   valid                          → "valid 0" or "valid 1", from a thread beside the client's
//   wall                           → "wall SECONDS", its wall clock
//   renewed                        → "renewed COUNT", the number of confirmed renewals
//   release                        → "released WHY"
// Prints "lost WHY" when a lease is lost. Ends with its input.
#include "support/client_thread.hpp"

#include <leasehold/redis.hpp>

#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace leasehold;
using std::chrono::milliseconds;

void say(const std::string& line)
{
    static std::mutex lines;
    const std::lock_guard guard(lines);
    std::cout << line << std::endl;
}

/// Names only for the errors that a test compares.
std::string why(error_code code)
{
    if (!code)
        return "success";
    if (code == errc::expired)
        return "expired";
    if (code == errc::silent)
        return "silent";
    if (code == errc::lost)
        return "lost";
    if (code == errc::held)
        return "held";
    return code.message();
}

class speaking_observer final : public observer
{
    void waiting(std::string_view, milliseconds) noexcept override
    {
        if (!std::exchange(said_, true))
            say("waiting");
    }
    void lost(std::string_view, std::uint64_t, duration, error_code reason,
              const diagnostics&) noexcept override
    {
        if (reason != errc::shut_down)
            say("lost " + why(reason));
    }
    bool said_ = false;
};

class holder
{
public:
    explicit holder(const std::string& url)
        : locks_(context_, make_redis_store(test::at(url)), std::make_shared<speaking_observer>())
    {
        locks_.async_run([](error_code) {});
        runner_ = std::jthread([this] { context_.run(); });
    }

    ~holder() { locks_.cancel(); }

    void obey(const std::string& line)
    {
        std::istringstream in(line);
        std::string verb, name;
        in >> verb;
        if (verb == "lock" || verb == "try") {
            int lease = 0;
            int grace = 0;
            in >> name >> lease >> grace;
            take(name, milliseconds(lease), milliseconds(grace), verb == "try");
        }
        else if (verb == "valid") {
            const std::lock_guard guard(mutex_);
            say(held_.valid() ? "valid 1" : "valid 0");
        }
        else if (verb == "wall") {
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            say("wall " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
        }
        else if (verb == "renewed") {
            say("renewed " + std::to_string(locks_.stats().renewed));
        }
        else if (verb == "release") {
            const std::lock_guard guard(mutex_);
            held_.async_release([](error_code code) { say("released " + why(code)); });
        }
    }

private:
    void take(const std::string& name, milliseconds lease_time, milliseconds grace, bool once)
    {
        lock_options options;
        options.lease_time = lease_time;
        options.dead_holder_grace = grace;
        // Short, so that most of a lease is left when a test kills or stops this process.
        options.renew_interval = lease_time / 10;
        // Long: a waiter gets the lock by a wake-up, or because the TTL has passed.
        options.backoff_floor = options.backoff_ceiling = std::chrono::seconds(60);
        const mutex lock(locks_, name, options);
        auto told = [this](error_code code, lease got) {
            if (code)
                return say("failed " + why(code));
            const std::lock_guard guard(mutex_);
            held_ = std::move(got);
            say("locked " + std::to_string(held_.fence()));
        };
        if (once)
            lock.async_try_lock(std::move(told));
        else
            lock.async_lock(std::move(told));
    }

    boost::asio::io_context context_;
    client locks_;
    std::mutex mutex_; ///< Protects the lease: commands and grants come on different threads.
    lease held_;
    std::jthread runner_;
};

} // namespace

int main(int count, char** words)
{
    if (count != 2)
        return 2;
    holder self(words[1]);
    for (std::string line; std::getline(std::cin, line);)
        self.obey(line);
}
