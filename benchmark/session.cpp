#include "session.hpp"

#include <leasehold/redis.hpp>

#include "crew.hpp"

#include <boost/asio/detached.hpp>

#include <iostream>

namespace leasehold::benchmark {

session::session(asio::io_context& context, const std::string& url)
    : context_(context), locks_(context, url)
{
    locks_.async_run(asio::detached);
}

session::~session()
{
    if (open_)
        run(context_, shut_down());
}

void session::close(asio::io_context& context, std::vector<std::unique_ptr<session>>& all)
{
    crew ending(context);
    for (const auto& each : all)
        ending.add(each->shut_down());
    ending.wait();
    all.clear();
}

asio::awaitable<void> session::shut_down()
{
    open_ = false;
    try {
        co_await locks_.async_shutdown();
    }
    catch (const boost::system::system_error& error) {
        std::cerr << "the shutdown of a client failed: " << error.what() << '\n';
    }
}

asio::awaitable<void> timed_cycles(client& locks, std::string name,
                                   std::chrono::steady_clock::time_point end,
                                   std::vector<double>& times)
{
    using clock = std::chrono::steady_clock;
    const mutex own(locks, name);
    // At least once: on a busy machine the time may be over before the coroutine starts.
    do {
        const clock::time_point begin = clock::now();
        lease held = co_await own.async_lock();
        co_await held.async_release();
        times.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    } while (clock::now() < end);
}

} // namespace leasehold::benchmark
