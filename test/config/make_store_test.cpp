// The URL chooses the store; a store registers its own schemes.

#include <boost/test/unit_test.hpp>

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <string>
#include <string_view>

using namespace leasehold;

namespace {

/// The error of `make_store`, and its text.
std::pair<error_code, std::string> error_of(std::string_view url)
{
    try {
        static_cast<void>(make_store(url));
        return {};
    }
    catch (const boost::system::system_error& refused) {
        return {refused.code(), refused.what()};
    }
}

std::string last_url;

/// A store in another folder would have a class of its own.
std::shared_ptr<store> make_toy(std::string_view url)
{
    last_url = url;
    return make_memory_store(std::make_shared<memory_space>());
}

} // namespace

BOOST_AUTO_TEST_SUITE(making_stores)

BOOST_AUTO_TEST_CASE(unknown_scheme_is_refused_with_the_known_ones)
{
    for (const char* url : {"redisx://h", "valkey2:h"})
        BOOST_TEST((error_of(url).first == errc::invalid_url));
    const auto [code, text] = error_of("http://host");
    BOOST_TEST((code == errc::invalid_url));
    BOOST_TEST(text.starts_with("scheme is 'http', must be memory, redis, rediss, unix, "
                                "redis+sentinel, rediss+sentinel, redis+cluster"));
    for (const char* url : {"", "host", "host:6379"})
        BOOST_TEST_CONTEXT(url)
        {
            const auto [no_scheme, why] = error_of(url);
            BOOST_TEST((no_scheme == errc::invalid_url));
            BOOST_TEST(why.starts_with(
                "URL has no scheme, must begin with one and a colon: memory, redis, "));
        }
}

BOOST_AUTO_TEST_CASE(each_scheme_of_redis_is_registered)
{
    for (const char* url :
         {"redis://h", "rediss://h?verify=none", "unix:///s", "redis+sentinel://h/m",
          "redis+cluster://h", "rediss+cluster://h?verify=none", "redlock://a,b,c", "REDIS://h",
          "valkey://h"})
        BOOST_TEST_CONTEXT(url)
        {
            BOOST_TEST(make_store(url) != nullptr);
        }
}

BOOST_AUTO_TEST_CASE(scheme_of_a_store_that_is_not_linked_names_its_component)
{
    for (const char* url : {"postgres://u:secret@h/db", "postgresql://h"})
        BOOST_TEST_CONTEXT(url)
        {
            const auto [code, text] = error_of(url);
            BOOST_TEST((code == errc::not_supported));
            for (const char* part : {"<leasehold/postgres.hpp>", "leasehold::postgres",
                                     "LEASEHOLD_POSTGRES", "libpq-dev"})
                BOOST_TEST(text.find(part) != std::string::npos, text);
            BOOST_TEST(text.find("secret") == std::string::npos);
        }
    for (const char* url : {"mysql://h/db", "mariadb://h"})
        for (const char* part : {"<leasehold/mysql.hpp>", "leasehold::mysql", "LEASEHOLD_MYSQL"})
            BOOST_TEST(error_of(url).second.find(part) != std::string::npos);
    for (const char* part : {"<leasehold/etcd.hpp>", "leasehold::etcd", "LEASEHOLD_ETCD"})
        BOOST_TEST(error_of("etcd://h").second.find(part) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(url_error_of_a_store_reaches_the_caller)
{
    const auto [code, text] = error_of("redis://u:secret@host:x");
    BOOST_TEST((code == errc::invalid_url));
    BOOST_TEST(text.starts_with("port is 'x', must be 1 to 65535"));
}

BOOST_AUTO_TEST_CASE(registered_scheme_makes_the_store_of_a_client)
{
    BOOST_TEST(register_scheme("toy", &make_toy));
    BOOST_TEST(!register_scheme("toy", &make_toy));
    BOOST_TEST(!register_scheme("redis", &make_toy));
    boost::asio::io_context context;
    const client locks(context, "Toy://user@host/space?option=1");
    BOOST_TEST(last_url == "Toy://user@host/space?option=1");
    BOOST_TEST((error_of("toys://h").second.find("or toy") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(clients_of_one_memory_name_share_their_locks)
{
    const auto first = memory_space::shared("made by URL");
    BOOST_TEST(make_store("memory:made%20by%20URL")->traits().queues);
    BOOST_TEST(first.use_count() == 1);
    const auto kept = make_store("memory:made%20by%20URL");
    BOOST_TEST(first.use_count() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
