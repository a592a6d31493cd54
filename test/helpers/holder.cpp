// A process that holds a lock and does as it is told, one line at a time:
//   holder URL
//   lock NAME LEASE_MS   → "waiting" when another has it; "locked FENCE" or "failed WHY"
//   valid                → "valid 0" or "valid 1", from a thread that is not the client's
//   wall                 → "wall SECONDS", its wall clock
//   release              → "released WHY"
// and by itself "lost WHY". Ends with its input.
#include "support/client_thread.hpp"

#include <cstdio>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

namespace {

using namespace leasehold;

void say(const std::string& line)
{
    static std::mutex lines;
    const std::lock_guard guard(lines);
    std::cout << line << std::endl;
}

/// Not everything is said by name: what a test compares is.
std::string why(error_code code)
{
    if (!code)
        return "success";
    if (code == errc::expired)
        return "expired";
    if (code == errc::lost)
        return "lost";
    return code.message();
}

class speaking_observer final : public observer
{
    void waiting(std::string_view, std::chrono::milliseconds) noexcept override
    {
        if (!std::exchange(said_, true))
            say("waiting");
    }
    void lost(std::string_view, std::uint64_t, error_code reason) noexcept override { say("lost " + why(reason)); }
    bool said_ = false;
};

} // namespace

int main(int count, char** words)
{
    if (count != 2)
        return 2;
    boost::asio::io_context context;
    client locks(context, test::at(std::string(words[1])), std::make_shared<speaking_observer>());
    locks.async_run([](error_code) {});
    std::jthread runner([&] { context.run(); });
    lease held;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        std::string verb, name;
        in >> verb;
        if (verb == "lock") {
            int milliseconds = 0;
            in >> name >> milliseconds;
            lock_options options;
            options.lease_time = std::chrono::milliseconds(milliseconds);
            // Short, so that little of a lease is gone when a test ends or stops this process.
            options.renew_interval = options.lease_time / 10;
            std::promise<test::taken> done;
            mutex(locks, name, options).async_lock([&](error_code code, lease got) {
                done.set_value({code, std::move(got)});
            });
            test::taken result = done.get_future().get();
            say(result.code ? "failed " + why(result.code) : "locked " + std::to_string(result.held.fence()));
            held = std::move(result.held);
        } else if (verb == "valid") {
            say(held.valid() ? "valid 1" : "valid 0");
        } else if (verb == "wall") {
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            say("wall " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
        } else if (verb == "release") {
            say("released " + why(test::get(test::client_thread::start_release(std::move(held)))));
        }
    }
    locks.cancel();
    return 0;
}
