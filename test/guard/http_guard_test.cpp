#include <boost/test/unit_test.hpp>

#include "guard/rising_writers.hpp"
#include "guard/zombie.hpp"
#include "support/directory.hpp"

#include "fenced_files/server.hpp"

#include <leasehold/extras/guard/http.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold::test;
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace guard = leasehold::guard;
using asio::ip::tcp;

const std::string field{guard::http_field};

/// The server, on its own thread.
class running_server
{
public:
    explicit running_server(const std::filesystem::path& directory)
        : server_(context_, directory, 0), thread_([this] { context_.run(); })
    {}
    running_server(const running_server&) = delete;
    running_server& operator=(const running_server&) = delete;
    ~running_server()
    {
        asio::post(context_, [this] { server_.stop(); });
        thread_.join();
    }

    [[nodiscard]] tcp::endpoint endpoint() const { return server_.endpoint(); }

private:
    asio::io_context context_{1};
    example::fenced_file_server server_;
    std::thread thread_;
};

struct answer
{
    unsigned status;
    std::string fence; ///< Empty: none.
    std::string body;
};

class connection
{
public:
    explicit connection(const tcp::endpoint& server) { socket_.connect(server); }

    answer ask(http::verb verb, const std::string& target, const std::vector<std::string>& fences,
               const std::string& body = {})
    {
        http::request<http::string_body> request(verb, target, 11);
        for (const std::string& fence : fences)
            request.insert(field, fence);
        request.body() = body;
        request.prepare_payload();
        http::write(socket_, request);
        http::response<http::string_body> response;
        http::read(socket_, received_, response);
        return {response.result_int(), std::string(response[field]), response.body()};
    }

    answer put(std::uint64_t fence, const std::string& body)
    {
        return ask(http::verb::put, "/data", {std::to_string(fence)}, body);
    }
    answer get() { return ask(http::verb::get, "/data", {}); }

private:
    asio::io_context context_;
    tcp::socket socket_{context_};
    boost::beast::flat_buffer received_;
};

struct fixture
{
    temporary_directory directory;
    std::optional<running_server> server{std::in_place, directory.path()};
    connection client{server->endpoint()};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(http_guard, fixture)

BOOST_AUTO_TEST_CASE(writes_of_zombies_are_refused_after_the_holder_wrote)
{
    const zombies all;
    BOOST_TEST(client.put(all.holder(), "holder").status == 204u);
    for (const std::uint64_t stale : {all.first(), all.second()}) {
        const answer refused = client.put(stale, "zombie");
        BOOST_TEST(refused.status == 412u);
        BOOST_TEST(refused.fence == std::to_string(all.holder()));
    }
    BOOST_TEST(client.get().body == "holder");
}

BOOST_AUTO_TEST_CASE(write_of_a_zombie_before_the_holder_is_overwritten)
{
    const zombies all;
    BOOST_TEST(client.put(all.second(), "second").status == 204u);
    BOOST_TEST(client.put(all.first(), "first").status == 412u);
    BOOST_TEST(client.put(all.holder(), "holder").status == 204u);
    BOOST_TEST(client.get().body == "holder");
}

BOOST_AUTO_TEST_CASE(holder_may_write_repeatedly)
{
    BOOST_TEST(client.put(7, "one").status == 204u);
    BOOST_TEST(client.put(7, "two").status == 204u);
    BOOST_TEST(client.get().body == "two");
}

BOOST_AUTO_TEST_CASE(write_without_a_valid_fence_is_refused)
{
    const auto put = [&](const std::vector<std::string>& fences) {
        return client.ask(http::verb::put, "/data", fences, "x").status;
    };
    BOOST_TEST(put({}) == 428u);
    for (const char* fence :
         {"", "0", "-1", "twelve", "12, 13", "9223372036854775808", "18446744073709551617"}) {
        BOOST_TEST_CONTEXT(fence)
        BOOST_TEST(put({fence}) == 400u);
    }
    BOOST_TEST(put({"12", "13"}) == 400u);
    BOOST_TEST(client.get().status == 404u);
    BOOST_TEST(put({"9223372036854775807"}) == 204u);
}

BOOST_AUTO_TEST_CASE(fence_is_kept_across_a_restart_of_the_server)
{
    BOOST_TEST(client.put(7, "newer").status == 204u);
    server.reset();
    server.emplace(directory.path());
    connection again(server->endpoint());
    BOOST_TEST(again.put(6, "older").status == 412u);
    BOOST_TEST(again.get().body == "newer");
}

BOOST_AUTO_TEST_CASE(damaged_fence_is_a_server_error)
{
    BOOST_TEST(client.put(7, "before").status == 204u);
    std::filesystem::resize_file(directory.file("data.fence"), 0);
    BOOST_TEST(client.put(8, "after").status == 500u);
    BOOST_TEST(client.get().body == "before");
}

BOOST_AUTO_TEST_CASE(only_the_guarded_file_can_be_requested)
{
    BOOST_TEST(client.put(7, "x").status == 204u);
    for (const char* target :
         {"/", "/data.fence", "/data.lock", "/data.new", "/../x", "/a/b", "/%2e%2e", "*"}) {
        BOOST_TEST_CONTEXT(target)
        {
            BOOST_TEST(client.ask(http::verb::get, target, {}).status == 404u);
            BOOST_TEST(client.ask(http::verb::put, target, {"9"}, "x").status == 404u);
        }
    }
    BOOST_TEST(client.ask(http::verb::delete_, "/data", {"9"}).status == 405u);
}

BOOST_AUTO_TEST_CASE(stored_fence_never_decreases_with_many_writers)
{
    struct writer
    {
        bool write(std::uint64_t fence)
        {
            const unsigned status = on->put(fence, std::to_string(fence)).status;
            if (status != 204 && status != 412)
                throw std::runtime_error("status " + std::to_string(status));
            return status == 204;
        }
        std::uint64_t stored()
        {
            // The file contains the fence of its last write.
            const answer now = on->get();
            return now.status == 404 ? 0 : std::stoull(now.body);
        }
        std::unique_ptr<connection> on;
    };
    check_rising_writers(
        [this] { return writer{std::make_unique<connection>(server->endpoint())}; }, 4, 300);
}

BOOST_AUTO_TEST_SUITE_END()
