#include "stock/stock_data.hpp"
#include "stock/stock_value.hpp"

#include <leasehold/etcd.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/src.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;

namespace example {
namespace {

/// The value of the key.
struct key_value : stock_value
{
    using stock_value::stock_value;

    std::string revision{}; ///< Of the last change.
};

// The gateway of etcd writes keys and values in Base64.
std::string encoded(const std::string& text)
{
    std::vector<unsigned char> result(text.size() / 3 * 4 + 5);
    const int size = EVP_EncodeBlock(result.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    return {result.begin(), result.begin() + size};
}

std::string decoded(const std::string& text)
{
    std::vector<unsigned char> result(text.size());
    const int size = EVP_DecodeBlock(result.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    const auto padding = std::count(text.begin(), text.end(), '=');
    if (size < padding)
        throw std::runtime_error("etcd: the value is not in Base64");
    return {result.begin(), result.begin() + size - padding};
}

/// A key, which is written only in the revision that was read.
class etcd_stock final : public stock_data
{
public:
    etcd_stock(asio::io_context& context, const std::string& url, const std::string& key)
        : where_(leasehold::etcd_config(url).addresses.front()),
          key_(encoded("example_stock/" + key)),
          context_(context)
    {}

    asio::awaitable<void> connect() override
    {
        asio::ip::tcp::socket first = co_await take();
        idle_.push_back(std::move(first));
    }

    asio::awaitable<void> open(int stock) override
    {
        const std::string value = encoded(stock_value(stock).text());
        const json::object put{{"key", key_}, {"value", value}};
        const json::object made = co_await post("kv/put", put);
        static_cast<void>(made);
    }

    asio::awaitable<int> left() override
    {
        const key_value now = co_await read();
        co_return now.units;
    }

    asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) override
    {
        for (;;) {
            key_value now = co_await read();
            if (!now.sell(left, seller, fence))
                co_return false;
            const bool written = co_await write(now);
            if (written) // otherwise another process has written since the read
                co_return true;
        }
    }

    asio::awaitable<std::vector<int>> sold(int sellers) override
    {
        key_value last = co_await read();
        last.sold.resize(static_cast<std::size_t>(sellers));
        co_return last.sold;
    }

    asio::awaitable<void> remove() override
    {
        const json::object range{{"key", key_}};
        const json::object removed = co_await post("kv/deleterange", range);
        static_cast<void>(removed);
    }

    void close() override { idle_.clear(); }

private:
    /// A connection has one request at a time.
    asio::awaitable<asio::ip::tcp::socket> take()
    {
        if (!idle_.empty()) {
            asio::ip::tcp::socket last = std::move(idle_.back());
            idle_.pop_back();
            co_return last;
        }
        asio::ip::tcp::resolver resolver(context_);
        const auto found = co_await resolver.async_resolve(where_.host, std::to_string(where_.port),
                                                           asio::use_awaitable);
        asio::ip::tcp::socket made(context_);
        co_await asio::async_connect(made, found, asio::use_awaitable);
        made.set_option(asio::ip::tcp::no_delay(true));
        co_return made;
    }

    /// @param target After "/v3/".
    asio::awaitable<json::object> post(std::string target, json::object body)
    {
        http::request<http::string_body> request(http::verb::post, "/v3/" + target, 11);
        request.set(http::field::host, where_.host);
        request.body() = json::serialize(body);
        request.prepare_payload();
        asio::ip::tcp::socket connection = co_await take();
        co_await http::async_write(connection, request, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        http::response<http::string_body> response;
        co_await http::async_read(connection, buffer, response, asio::use_awaitable);
        idle_.push_back(std::move(connection));
        if (response.result() != http::status::ok)
            throw std::runtime_error("etcd: " + response.body());
        co_return json::parse(response.body()).as_object();
    }

    asio::awaitable<key_value> read()
    {
        const json::object range{{"key", key_}};
        const json::object got = co_await post("kv/range", range);
        const json::object& key = got.at("kvs").at(0).as_object();
        const json::string& value = key.at("value").as_string();
        key_value now(decoded(std::string(value.begin(), value.end())));
        now.revision = key.at("mod_revision").as_string();
        co_return now;
    }

    asio::awaitable<bool> write(key_value value)
    {
        const std::string text = encoded(value.text());
        json::object unchanged{{"target", "MOD"}, {"key", key_}};
        unchanged["mod_revision"] = value.revision;
        json::object put;
        put["request_put"] = json::object{{"key", key_}, {"value", text}};
        json::object transaction;
        transaction["compare"] = json::array{unchanged};
        transaction["success"] = json::array{put};
        const json::object done = co_await post("kv/txn", transaction);
        co_return done.contains("succeeded");
    }

    const leasehold::etcd_config::address where_;
    const std::string key_;
    asio::io_context& context_;
    std::vector<asio::ip::tcp::socket> idle_;
};

} // namespace

std::unique_ptr<stock_data> make_etcd_stock(asio::io_context& context, const std::string& url,
                                            std::string key)
{
    return std::make_unique<etcd_stock>(context, url, key);
}

} // namespace example
