#ifndef LEASEHOLD_TEST_REDIS_SCRIPTED_MASTERS_HPP
#define LEASEHOLD_TEST_REDIS_SCRIPTED_MASTERS_HPP

#include <boost/test/unit_test.hpp>

#include "redis/connection/connection.hpp"
#include "redis/connection/environment.hpp"
#include "redis/resp_text.hpp"
#include "support/common_time.hpp"
#include "support/moved_time.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

using words = std::vector<std::string>;

/// The host that serves a range of slots.
struct served
{
    std::size_t first;
    std::size_t last;
    std::string host;
};

/// A connection, as its server sees it.
struct wire
{
    std::string host;
    asio::any_io_executor strand;
    redis_store::connection::ended run_done;
    redis_store::connection::ended receive_done;
    std::vector<redis_store::request_channel::executed> unanswered;
    std::optional<boost::redis::any_adapter> pushes;
    bool ended = false;
    int runs = 0; ///< The number of connection attempts.
    bool asked_for_map = false;
    bool asking = false;     ///< Whether ASKING preceded the command that is answered now.
    bool was_asking = false; ///< Whether ASKING was the last command.

    void end()
    {
        ended = true;
        for (auto& each : std::exchange(unanswered, {}))
            asio::post(strand, [done = std::move(each)]() mutable {
                std::move(done)(asio::error::operation_aborted, std::size_t(0));
            });
        if (run_done)
            asio::post(strand, [done = std::move(run_done)]() mutable {
                std::move(done)(asio::error::operation_aborted);
            });
    }
};

/// All masters, on any connection. The test may replace each of their replies.
struct masters
{
    /// The reply of a master to a command of a lock. Empty: no reply.
    std::function<std::optional<std::string>(const std::string& host, const words& asked)> answer;
    client_info client;           ///< The record of the client.
    std::vector<served> map;      ///< Empty: one server without a cluster.
    std::set<std::string> silent; ///< Hosts that do not answer.
    /// Hosts that have lost the others, so that their map may be outdated.
    std::set<std::string> down;
    std::map<std::string, std::string> instead;       ///< Other replies, by a command's first word.
    std::vector<std::pair<std::string, words>> calls; ///< Calls of lock commands.
    std::vector<std::shared_ptr<wire>> used;          ///< The connection of each call.
    /// Subscriptions and unsubscriptions.
    std::vector<std::pair<std::shared_ptr<wire>, words>> subscribed;
    std::vector<std::shared_ptr<wire>> wires;

    [[nodiscard]] std::string shards() const
    {
        std::string text = '*' + std::to_string(map.size()) + "\r\n";
        for (const served& each : map)
            text += "*4\r\n" + bulk("slots") +
                    numbers({static_cast<std::int64_t>(each.first),
                             static_cast<std::int64_t>(each.last)}) +
                    bulk("nodes") + "*1\r\n*8\r\n" + bulk("endpoint") + bulk(each.host) +
                    bulk("port") + ":7000\r\n" + bulk("role") + bulk("master") + bulk("health") +
                    bulk("online");
        return text;
    }

    /// The reply to a command that is not answered by a push.
    std::optional<std::string> execute(const std::shared_ptr<wire>& to, const words& asked)
    {
        const std::string& host = to->host;
        if (silent.contains(host))
            return std::nullopt;
        if (const auto found = instead.find(asked[0]); found != instead.end())
            return found->second;
        if (asked[0] == "HELLO")
            return "%1\r\n" + bulk("mode") + bulk(map.empty() ? "standalone" : "cluster");
        if (asked[0] == "SCRIPT")
            return bulk("a");
        if (asked[0] == "EVAL" && asked[2] == "0")
            return ":1\r\n";
        if (asked[0] == "EVALSHA" && asked.size() == 3) // not for a lock
            return "*0\r\n";
        if (asked[0] == "TIME")
            return "*2\r\n" + bulk("1700000000") + bulk("0");
        if (asked[0] == "CLUSTER" && asked[1] == "INFO")
            return bulk("cluster_state:" + std::string(down.contains(to->host) ? "fail" : "ok"));
        if (asked[0] == "CLUSTER") {
            to->asked_for_map = true;
            return shards();
        }
        if (asked[0] == "CLIENT")
            return asked[1] == "INFO" ? bulk("id=1 addr=10.0.0.1:2") : std::string(":0\r\n");
        if (asked[0] == "ASKING") {
            to->was_asking = true;
            return "+OK\r\n";
        }
        to->asking = std::exchange(to->was_asking, false);
        if (asked[0] == "DELIFEQ" || asked[0] == "DELEX")
            return "-ERR unknown command\r\n";
        calls.emplace_back(host, asked);
        used.push_back(to);
        return answer(host, asked);
    }
};

class scripted_connection final : public redis_store::connection
{
public:
    scripted_connection(masters& all, std::shared_ptr<wire> to) : all_(all), wire_(std::move(to)) {}

    void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                 asio::cancellation_slot, executed done) override
    {
        std::vector<std::string> answers;
        for (const words& each : commands_in(request.payload())) {
            if (each[0].ends_with("SUBSCRIBE")) {
                all_.subscribed.emplace_back(wire_, each);
                continue;
            }
            const auto said = all_.execute(wire_, each);
            if (!said) {
                wire_->unanswered.push_back(std::move(done));
                return;
            }
            answers.push_back(*said);
        }
        asio::post(wire_->strand, [answers = std::move(answers), adapter = std::move(adapter),
                                   done = std::move(done)]() mutable {
            for (const std::string& each : answers) {
                boost::redis::resp3::parser parser;
                error_code failed;
                BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, each, adapter, failed));
                BOOST_TEST_REQUIRE(!failed);
            }
            std::move(done)(error_code(), std::size_t(0));
        });
    }
    std::size_t commands_sent() const override { return 0; }
    void run(const boost::redis::config&, ended done) override
    {
        ++wire_->runs;
        wire_->run_done = std::move(done);
    }
    void set_receive_response(boost::redis::any_adapter adapter) override
    {
        wire_->pushes = std::move(adapter);
    }
    void receive(ended done) override { wire_->receive_done = std::move(done); }
    void cancel(boost::redis::operation what) override
    {
        if (what == boost::redis::operation::run)
            wire_->end();
        if (what == boost::redis::operation::receive && wire_->receive_done)
            asio::post(wire_->strand, [done = std::move(wire_->receive_done)]() mutable {
                std::move(done)(asio::error::operation_aborted);
            });
    }

private:
    masters& all_;
    std::shared_ptr<wire> wire_;
};

struct scripted_environment final : redis_store::environment
{
    scripted_environment(masters& servers, const common_time& by) : all(servers), time(by) {}

    std::unique_ptr<redis_store::connection> make_connection(
        const asio::any_io_executor& strand, const redis_config& settings,
        redis_store::connection::complaint) override
    {
        const auto made = std::make_shared<wire>();
        made->host = settings.addresses.front().host;
        made->strand = strand;
        all.wires.push_back(made);
        return std::make_unique<scripted_connection>(all, made);
    }
    std::unique_ptr<detail::time_source> make_time() override { return time.make_source(); }
    client_info this_client() override { return all.client; }

    masters& all;
    const common_time& time;
};

/// The masters, with the context and the clock.
struct masters_fixture
{
    template <class Function>
    void call(Function function)
    {
        asio::post(strand, function);
        poll();
    }

    void poll() { run_due(context, time); }

    void advance(clock::duration by)
    {
        move_time(time, by, [this] { poll(); });
    }

    /// Ends all connections, whose user is already closed.
    void end_all()
    {
        for (const auto& each : all.wires)
            each->end();
        poll();
    }

    [[nodiscard]] std::shared_ptr<scripted_environment> environment()
    {
        return std::make_shared<scripted_environment>(all, time);
    }

    /// A server sends a push message.
    void push(const std::shared_ptr<wire>& to, std::initializer_list<std::string_view> said)
    {
        std::string text = '>' + std::to_string(said.size()) + "\r\n";
        for (const std::string_view each : said)
            text += bulk(each);
        push(to, text);
    }
    void push(const std::shared_ptr<wire>& to, std::string_view text)
    {
        boost::redis::resp3::parser parser;
        error_code failed;
        BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, text, *to->pushes, failed));
        BOOST_TEST_REQUIRE(static_cast<bool>(to->receive_done));
        asio::post(strand, [done = std::move(to->receive_done)]() mutable {
            std::move(done)(error_code());
        });
        poll();
    }

    asio::io_context context;
    asio::any_io_executor strand = asio::make_strand(context);
    common_time time;
    masters all;
};

} // namespace leasehold::test

#endif
