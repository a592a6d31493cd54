// A course with few places and many applicants. Each acquire has a limit: if it passes, the program
// asks the person to try again, instead of leaving a page without an answer.
#include "support/arguments.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

struct course
{
    asio::io_context& context;
    leasehold::client& locks;
    leasehold::mutex lock;
    int places;
    int to_answer; // persons without a final answer
    std::vector<std::string> participants{};
    int told_full = 0;
    int told_to_try_again = 0;
};

asio::awaitable<void> pause(course& where, std::chrono::milliseconds time)
{
    asio::steady_timer timer(where.context, time);
    co_await timer.async_wait();
}

/// Checks and writes. The lock must be held for both, or two persons may get the last place.
asio::awaitable<void> write_down(course& to, const std::string& name)
{
    const int taken = static_cast<int>(to.participants.size());
    co_await pause(to, 40ms); // a slow form
    if (taken < to.places) {
        to.participants.push_back(name);
        std::cout << name << ": signed up, place " << taken + 1 << " of " << to.places << '\n';
    }
    else {
        ++to.told_full;
        std::cout << name << ": sorry, all places are taken\n";
    }
}

asio::awaitable<void> sign_up(course& to, std::string name)
{
    for (;;) {
        leasehold::error_code failed;
        leasehold::diagnostics details; // an exception would contain them
        leasehold::lease lease = co_await to.lock.async_try_lock_for(100ms, details,
                                                                     asio::redirect_error(failed));
        if (!failed) {
            co_await write_down(to, name);
            co_await lease.async_release();
            break;
        }
        if (failed != leasehold::condition::busy)
            throw boost::system::system_error(failed, details.to_string());
        ++to.told_to_try_again;
        std::cout << name << ": others are signing up (" << details.to_string()
                  << "), trying again\n";
    }
    if (--to.to_answer == 0)
        co_await to.locks.async_shutdown();
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    int places = 5;
    int persons = 8;
    example::arguments line(
        "Signs persons up for a course with a limited number of places, with a limit on "
        "the wait for the lock.");
    line.url(url);
    line.number("--places", places, 1, 1'000, "places of the course");
    line.number("--persons", persons, 1, 1'000, "persons that apply at the same time");
    line.parse(argc, argv);

    asio::io_context context(1);
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    course pottery{context, locks, leasehold::mutex(locks, "course:pottery"), places, persons};
    for (int i = 1; i <= persons; ++i)
        asio::co_spawn(context, sign_up(pottery, "person " + std::to_string(i)), example::rethrow);
    context.run();

    const int signed_up = static_cast<int>(pottery.participants.size());
    std::cout << '\n'
              << signed_up << " signed up, " << pottery.told_full << " found it full, "
              << pottery.told_to_try_again << " attempts passed the limit\n";
    return signed_up == std::min(places, persons) && pottery.told_full == persons - signed_up ? 0
                                                                                              : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
