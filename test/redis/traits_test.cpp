// The traits of each store on Redis.
#include <boost/test/unit_test.hpp>

#include <leasehold/redis.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace {

using namespace leasehold;
using source = store_traits::fence_source;

std::string text_of(const store_traits& can)
{
    std::string text;
    const auto say = [&](bool is, const char* name) {
        if (is)
            text += (text.empty() ? "" : " ") + std::string(name);
    };
    say(can.publishes, "publishes");
    say(can.queues, "queues");
    say(can.rejects_late, "rejects_late");
    say(can.shared, "shared");
    say(can.permits, "permits");
    say(can.describes_holders, "describes_holders");
    say(can.replica_acks, "replica_acks");
    say(can.dead_holder_grace, "dead_holder_grace");
    say(can.smallest_lease != std::chrono::milliseconds(1), "smallest_lease");
    say(can.grain != std::chrono::milliseconds(1), "grain");
    say(can.fences == source::counter, "counter");
    say(can.fences == source::quorum, "quorum");
    return text;
}

std::string traits_of(const std::string& url)
{
    return text_of(make_redis_store(redis_config(url))->traits());
}

} // namespace

BOOST_AUTO_TEST_SUITE(traits_of_stores)

BOOST_AUTO_TEST_CASE(traits_depend_on_deployment_and_layout)
{
    const std::string redisson = "publishes queues rejects_late describes_holders "
                                 "replica_acks";
    for (const char* const begin :
         {"redis://a?", "redis+sentinel://a/main?", "redis+cluster://a?"}) {
        const std::string url = begin;
        const bool cluster = url.starts_with("redis+cluster");
        BOOST_TEST_CONTEXT(url)
        {
            const std::string native = "queues describes_holders replica_acks";
            // A heartbeat is one key for all locks of a client, but the slots of a cluster are on
            // several servers.
            const std::string native_here = cluster ? native : native + " dead_holder_grace";
            BOOST_TEST(traits_of(url + "layout=native") == native_here);
            BOOST_TEST(traits_of(url + "layout=redisson") == redisson);
            BOOST_TEST(traits_of(url + "layout=redisson&client_info=off") ==
                       "publishes queues rejects_late replica_acks");
            BOOST_TEST(traits_of(url + "client_info=off") ==
                       (cluster ? "queues replica_acks" : "queues replica_acks dead_holder_grace"));
        }
    }
    BOOST_TEST(traits_of("redlock://a,b,c") == "publishes rejects_late describes_holders quorum");
    BOOST_TEST(traits_of("redlock://a,b,c?client_info=off") == "publishes rejects_late quorum");
}

// Over an application's connection, confirmations use a separate connection, which exists only with
// wake-ups.
BOOST_AUTO_TEST_CASE(traits_of_an_application_connection_depend_on_wake_ups)
{
    boost::asio::io_context context;
    const auto connection = std::make_shared<boost::redis::connection>(context);
    using layout = redis_config::key_layout;
    const auto of = [](const std::shared_ptr<store>& made) { return text_of(made->traits()); };
    BOOST_TEST(of(make_redis_store(connection, layout::native)) ==
               "queues describes_holders dead_holder_grace");
    BOOST_TEST(of(make_redis_store(connection, layout::redisson)) ==
               "publishes queues rejects_late describes_holders");
    BOOST_TEST(of(make_redis_store(connection, redis_config("redis://a?layout=redisson"))) ==
               "publishes queues rejects_late describes_holders replica_acks");
    BOOST_TEST(of(make_redis_store(connection, redis_config("redis://a"))) ==
               "queues describes_holders replica_acks dead_holder_grace");
}

BOOST_AUTO_TEST_SUITE_END()
