#include "stock/stock_data.hpp"
#include "stock/stock_value.hpp"

#include <leasehold/zookeeper.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zookeeper/zookeeper.h>

#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace asio = boost::asio;

namespace example {
namespace {

constexpr char folder[] = "/example_stock";

/// A request to the server, and its reply. The client of ZooKeeper calls back on its own thread.
struct question
{
    explicit question(asio::io_context& context)
        : answered(context, asio::steady_timer::time_point::max())
    {}

    asio::steady_timer answered;
    int error = ZOK;
    std::string data{};
    int version = 0;
};
using question_ptr = std::shared_ptr<question>;

void answer(const void* to, int error, std::string_view data = {}, const Stat* status = nullptr)
{
    const std::unique_ptr<const question_ptr> owned(static_cast<const question_ptr*>(to));
    const question_ptr pending = *owned;
    asio::post(pending->answered.get_executor(),
               [pending, error, text = std::string(data), version = status ? status->version : 0] {
                   pending->error = error;
                   pending->data = text;
                   pending->version = version;
                   pending->answered.cancel();
               });
}

void on_data(int error, const char* data, int size, const Stat* status, const void* to)
{
    const bool has_data = error == ZOK && size > 0;
    answer(to, error,
           has_data ? std::string_view(data, static_cast<std::size_t>(size)) : std::string_view(),
           error == ZOK ? status : nullptr);
}

void on_written(int error, const Stat*, const void* to)
{
    answer(to, error);
}

void on_created(int error, const char*, const void* to)
{
    answer(to, error);
}

void on_removed(int error, const void* to)
{
    answer(to, error);
}

/// A node, which is written only in the version that was read.
class zookeeper_stock final : public stock_data
{
public:
    zookeeper_stock(asio::io_context& context, const std::string& url, const std::string& key)
        : context_(context),
          node_(std::string(folder) + '/' + key),
          connected_(
              std::make_shared<asio::steady_timer>(context, asio::steady_timer::time_point::max()))
    {
        const leasehold::zookeeper_config where(url);
        for (const auto& each : where.addresses)
            hosts_ += (hosts_.empty() ? "" : ",") + each.host + ':' + std::to_string(each.port);
    }
    ~zookeeper_stock() override { close(); }

    asio::awaitable<void> connect() override
    {
        constexpr int timeout_ms = 10'000;
        zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
        handle_ = zookeeper_init(hosts_.c_str(), &on_event, timeout_ms, nullptr, this, 0);
        if (handle_ == nullptr)
            throw std::runtime_error("the client of ZooKeeper cannot be started");
        boost::system::error_code cancelled;
        co_await connected_->async_wait(asio::redirect_error(cancelled));
    }

    asio::awaitable<void> open(int stock) override
    {
        const int made = co_await create(folder, "");
        if (made != ZNODEEXISTS)
            check(made);
        const std::string value = stock_value(stock).text();
        check(co_await create(node_, value));
    }

    asio::awaitable<int> left() override
    {
        const question_ptr got = co_await read();
        co_return stock_value(got->data).units;
    }

    asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) override
    {
        for (;;) {
            const question_ptr got = co_await read();
            stock_value now(got->data);
            if (!now.sell(left, seller, fence))
                co_return false;
            const int written = co_await write(now.text(), got->version);
            if (written != ZBADVERSION) { // another process has written since the read
                check(written);
                co_return true;
            }
        }
    }

    asio::awaitable<std::vector<int>> sold(int sellers) override
    {
        const question_ptr got = co_await read();
        stock_value last(got->data);
        last.sold.resize(static_cast<std::size_t>(sellers));
        co_return last.sold;
    }

    asio::awaitable<void> remove() override
    {
        const question_ptr pending = std::make_shared<question>(context_);
        check(zoo_adelete(handle_, node_.c_str(), -1, &on_removed, new question_ptr(pending)));
        check(co_await reply_to(pending));
    }

    void close() override
    {
        if (zhandle_t* const last = std::exchange(handle_, nullptr))
            zookeeper_close(last);
    }

private:
    static void on_event(zhandle_t* of, int type, int state, const char*, void* self)
    {
        auto& connected = static_cast<zookeeper_stock*>(self)->connected_;
        static_cast<void>(of);
        if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
            asio::post(connected->get_executor(), [connected] { connected->cancel(); });
    }

    static asio::awaitable<int> reply_to(question_ptr pending)
    {
        boost::system::error_code cancelled;
        co_await pending->answered.async_wait(asio::redirect_error(cancelled));
        co_return pending->error;
    }

    asio::awaitable<question_ptr> read()
    {
        const question_ptr pending = std::make_shared<question>(context_);
        check(zoo_aget(handle_, node_.c_str(), 0, &on_data, new question_ptr(pending)));
        check(co_await reply_to(pending));
        co_return pending;
    }

    asio::awaitable<int> write(std::string text, int version)
    {
        const question_ptr pending = std::make_shared<question>(context_);
        check(zoo_aset(handle_, node_.c_str(), text.data(), static_cast<int>(text.size()), version,
                       &on_written, new question_ptr(pending)));
        co_return co_await reply_to(pending);
    }

    asio::awaitable<int> create(std::string node, std::string text)
    {
        const question_ptr pending = std::make_shared<question>(context_);
        check(zoo_acreate(handle_, node.c_str(), text.data(), static_cast<int>(text.size()),
                          &ZOO_OPEN_ACL_UNSAFE, 0, &on_created, new question_ptr(pending)));
        co_return co_await reply_to(pending);
    }

    static void check(int error)
    {
        if (error != ZOK)
            throw std::runtime_error(std::string("ZooKeeper: ") + zerror(error));
    }

    asio::io_context& context_;
    const std::string node_;
    const std::shared_ptr<asio::steady_timer> connected_;
    std::string hosts_;
    zhandle_t* handle_ = nullptr;
};

} // namespace

std::unique_ptr<stock_data> make_zookeeper_stock(asio::io_context& context, const std::string& url,
                                                 std::string key)
{
    return std::make_unique<zookeeper_stock>(context, url, key);
}

} // namespace example
