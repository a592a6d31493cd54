#ifndef LEASEHOLD_TEST_SUPPORT_STORE_LIFETIME_HPP
#define LEASEHOLD_TEST_SUPPORT_STORE_LIFETIME_HPP

#include <boost/test/unit_test.hpp>

#include "support/counting_listener.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <unistd.h>

#include <memory>

// Checks of a store on a real server, whose objects end in any order. `make` creates a store.
namespace leasehold::test {

/// A store that is closed, or still open, when its context ends, keeps no handler.
template <class Make>
void check_end_of_context(Make make)
{
    namespace asio = boost::asio;
    const auto token = std::make_shared<int>();
    const auto closed = make();
    {
        asio::io_context context;
        auto session = std::make_unique<store_session>(context, closed);
        session->wait_until_connected();
        session->on_the_strand([&] {
            closed->async_acquire(queued_request("lock", "a:1"), [token](error_code, auto) {});
        });
        session->close();
    }
    BOOST_TEST(token.use_count() == 1);
    const auto open = make();
    counting_listener ears;
    {
        asio::io_context context;
        open->open(asio::make_strand(context), ears);
        while (ears.connected == 0)
            context.run_one();
        open->async_acquire(queued_request("lock", "a:1"), [token](error_code, auto) {});
        context.poll();
    }
    open->async_acquire(contract::take("lock", "a:1"), [token](error_code, auto) {});
    open->close();
    BOOST_TEST(token.use_count() == 1);
}

/// A store that is destroyed completes its requests.
template <class Make>
void check_destruction_with_outstanding_replies(Make make)
{
    counting_listener ears;
    boost::asio::io_context context;
    auto made = make();
    made->open(boost::asio::make_strand(context), ears);
    while (ears.connected == 0)
        context.run_one();
    int answers = 0;
    for (const char* name : {"a", "b"})
        made->async_acquire(contract::take(name, "a:1"), [&](error_code, auto) { ++answers; });
    made.reset();
    context.run();
    BOOST_TEST(answers == 2);
}

/// The client of a holder is found by the name that a request for its lock returns.
inline void check_description_of_holder(store_session& session)
{
    session.acquire(contract::take("lock", "5e0f8c21-0000-4000-8000-000000000001:1"));
    acquire_request other = contract::take("lock", "b:1");
    other.needs_holder = true;
    const auto held = session.acquire(other);
    BOOST_REQUIRE(held.reply.details);
    BOOST_TEST(held.reply.details->holder == "5e0f8c21");
    client_info found;
    bool described = false;
    session.on_the_strand([&] {
        session.get().async_describe("5e0f8c21", [&](client_info info) {
            found = std::move(info);
            described = true;
        });
    });
    session.until([&] { return described; });
    BOOST_TEST((found == session.get().own_info()));
    BOOST_TEST(found.pid == ::getpid());
}

} // namespace leasehold::test

#endif
