#include "session.hpp"

#include "crew.hpp"

#include <boost/asio/detached.hpp>

#include <exception>
#include <iostream>

namespace leasehold::benchmark {
namespace {

asio::awaitable<void> shut_down(client& locks)
{
    co_await locks.async_shutdown();
}

} // namespace

session::session(asio::io_context& context, const std::string& url) : context_(context), locks_(context, url)
{
    locks_.async_run(asio::detached);
}

session::~session()
{
    try {
        run(context_, shut_down(locks_));
    } catch (const std::exception& error) {
        std::cerr << "the shutdown of a client failed: " << error.what() << '\n';
    }
}

} // namespace leasehold::benchmark
