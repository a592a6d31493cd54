#define BOOST_TEST_MODULE redis_store
#include <boost/test/included/unit_test.hpp>

#include "support/redis_command.hpp"
#include "support/redis_server.hpp"
#include "support/store_contract.hpp"

#include <leasehold/redis_store.hpp>

#include <boost/redis/connection.hpp>

#include <optional>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace leasehold::test::contract;

config at(const redis_server& server)
{
    config where;
    where.unix_socket = server.socket();
    where.reconnect = 5ms;
    return where;
}

/// A connection of an application, running on a thread of its own.
class application
{
public:
    explicit application(const redis_server& server)
        : connection(std::make_shared<boost::redis::connection>(asio::make_strand(context_)))
    {
        boost::redis::config where;
        where.unix_socket = server.socket();
        where.reconnect_wait_interval = 5ms;
        connection->async_run(where, [held = connection](error_code) {});
        thread_ = std::jthread([this] { context_.run(); });
    }

    ~application()
    {
        asio::post(connection->get_executor(), [held = connection] { held->cancel(); });
        thread_.join();
    }

private:
    asio::io_context context_;

public:
    std::shared_ptr<boost::redis::connection> connection;

private:
    std::jthread thread_;
};

class own_lab : public store_lab
{
public:
    explicit own_lab(std::vector<std::string> options = {}) : server(std::move(options)) {}
    std::shared_ptr<store> make_store() override { return make_redis_store(at(server)); }
    void erase(std::string_view name) override { command({"DEL", name}); }
    void clear() override { command({"FLUSHALL"}); }
    std::string command(const std::vector<std::string_view>& words) { return redis_command(server.socket(), words); }

    redis_server server;
};

class borrowed_lab final : public own_lab
{
public:
    using own_lab::own_lab;
    std::shared_ptr<store> make_store() override { return make_redis_store(app_.connection, at(server)); }

private:
    application app_{server};
};

} // namespace

BOOST_AUTO_TEST_SUITE(own)
const bool added = add_store_contract([] { return std::make_unique<own_lab>(); });
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(borrowed)
const bool added = add_store_contract([] { return std::make_unique<borrowed_lab>(); });
BOOST_AUTO_TEST_SUITE_END()
