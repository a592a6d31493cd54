#ifndef LEASEHOLD_BENCHMARK_PEERS_PROTOCOL_HPP
#define LEASEHOLD_BENCHMARK_PEERS_PROTOCOL_HPP

#include "../crew.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

/// The common part of the peers in C++. README.md in this folder describes their protocol.
namespace leasehold::benchmark::peers {

using clock = std::chrono::steady_clock;

/// Counts of times in steps of one percent, so that the answer stays short.
class histogram
{
public:
    void add(clock::duration took)
    {
        const double us = std::chrono::duration<double, std::micro>(took).count();
        ++counts_[std::lround(100 * std::log(std::max(us, 0.1)))];
    }

    friend std::ostream& operator<<(std::ostream& out, const histogram& seen)
    {
        out << '{';
        const char* between = "";
        for (const auto& [step, count] : seen.counts_) {
            out << between << '"' << step << "\":" << count;
            between = ",";
        }
        return out << '}';
    }

private:
    std::map<long, std::uint64_t> counts_;
};

struct cycles
{
    std::uint64_t count = 0;
    histogram waits;
    histogram whole;
};

/// Acquires and releases until `end`.
template <class Lock>
asio::awaitable<void> cycle(Lock lock, clock::time_point end, cycles& seen)
{
    for (;;) {
        const clock::time_point began = clock::now();
        if (began >= end)
            co_return;
        auto held = co_await lock.lock();
        const clock::time_point got = clock::now();
        seen.waits.add(got - began);
        co_await lock.unlock(held);
        seen.whole.add(clock::now() - began);
        if (got < end)
            ++seen.count;
    }
}

template <class Lock>
asio::awaitable<void> once(Lock lock)
{
    auto held = co_await lock.lock();
    co_await lock.unlock(held);
}

/// Acquires every `step`th of the locks.
template <class Lock, class Held>
asio::awaitable<void> take(std::vector<Lock>& locks, std::vector<Held>& held, std::size_t first,
                           std::size_t step)
{
    for (std::size_t i = first; i < locks.size(); i += step) {
        held[i] = co_await locks[i].lock();
        locks[i].keep(held[i]);
    }
}

template <class Lock, class Held>
asio::awaitable<void> drop(std::vector<Lock>& locks, std::vector<Held>& held, std::size_t first,
                           std::size_t step)
{
    for (std::size_t i = first; i < locks.size(); i += step) {
        try {
            co_await locks[i].unlock(held[i]);
        }
        catch (const std::exception&) {
            // The lock was lost. The driver counts the held locks.
        }
    }
}

inline asio::awaitable<void> read_line(asio::posix::stream_descriptor& in, std::string& buffer,
                                       std::string& line)
{
    boost::system::error_code error;
    const std::size_t size = co_await asio::async_read_until(
        in, asio::dynamic_buffer(buffer), '\n', asio::redirect_error(asio::use_awaitable, error));
    line = buffer.substr(0, size);
    buffer.erase(0, size);
}

inline std::int64_t since_1970_us()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The time of polling with the argument "polling".
inline constexpr std::chrono::microseconds polling_patience{50};

/// Executes the commands of the driver until the end of the standard input. `named(i)` returns a
/// lock; locks with the same number exclude each other. `patience`: time for which the tasks of
/// `cycle` poll before they sleep.
template <class Held, class Named>
void serve(asio::io_context& context, Named named, std::chrono::microseconds patience = {})
{
    constexpr std::size_t takers = 1'000;
    std::vector<decltype(named(0))> locks;
    std::vector<Held> held;
    asio::posix::stream_descriptor in(context, ::dup(STDIN_FILENO));
    std::string buffer, line;
    for (;;) {
        crew reading(context); // meanwhile the held locks are renewed
        reading.add(read_line(in, buffer, line));
        reading.wait(std::chrono::hours(1));
        std::istringstream words(line);
        std::string verb;
        if (!(words >> verb))
            return;
        std::size_t count = 0;
        words >> count;
        crew all(context, verb == "cycle" ? patience : std::chrono::microseconds());
        if (verb == "cycle") {
            std::size_t tasks = 0;
            double seconds = 0;
            words >> tasks >> seconds;
            const std::chrono::microseconds time(std::llround(seconds * 1e6));
            const clock::time_point end = clock::now() + time;
            cycles seen;
            for (std::size_t i = 0; i < tasks; ++i)
                all.add(cycle(named(i % count), end, seen));
            all.wait();
            std::cout << "{\"count\":" << seen.count << ",\"waits\":" << seen.waits
                      << ",\"cycles\":" << seen.whole << '}' << std::endl;
            continue;
        }
        std::int64_t at = since_1970_us();
        if (verb == "hold") {
            for (std::size_t i = 0; i < count; ++i)
                locks.push_back(named(i));
            held.resize(count);
            for (std::size_t i = 0; i < std::min(takers, count); ++i)
                all.add(take(locks, held, i, takers));
        }
        else if (verb == "once") {
            for (std::size_t i = 0; i < count; ++i)
                all.add(once(named(0)));
        }
        else if (verb == "drop") {
            for (std::size_t i = 0; i < std::min(takers, locks.size()); ++i)
                all.add(drop(locks, held, i, takers));
        }
        else {
            throw std::runtime_error("unknown: " + verb);
        }
        all.wait();
        if (verb == "drop") {
            locks.clear();
            held.clear();
        }
        else {
            at = since_1970_us();
        }
        std::cout << "{\"at\":" << at << '}' << std::endl;
    }
}

} // namespace leasehold::benchmark::peers

#endif
