// A custom store: locks as rows of a table, as in a database. The contract of stores is tested on
// it.
#include <leasehold.hpp>
#include <leasehold/testing/store_contract.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace leasehold;

namespace {

using std::chrono::milliseconds;
using server_clock = std::chrono::steady_clock;

// [table]
/// A stand-in for the table. Each function is one transaction.
class table
{
public:
    acquire_reply acquire(const acquire_request& request)
    {
        const std::lock_guard alone(guard_);
        if (request.budget <= milliseconds::zero())
            return {.result = acquire_reply::outcome::late};
        const std::string name(request.name);
        row* const there = find(name);
        if (there == nullptr && !request.entry.empty())
            return {.result = acquire_reply::outcome::gone};
        if (there != nullptr && there->owner != request.owner) {
            if (!request.entry.empty())
                return {.result = acquire_reply::outcome::gone};
            return {.result = acquire_reply::outcome::held, .remaining = left(*there)};
        }
        row& mine = there != nullptr ? *there : rows_[name];
        std::uint32_t fences = 1; // a repeated request gets its last fence again
        if (there == nullptr) {
            mine.owner = request.owner;
            // The clock is the lower bound of the counter, so fences rise even if the table is
            // lost.
            newest_ = std::max({newest_, request.fence_floor, nanoseconds_since_1970()});
            fences = std::min(request.fences, 100u);
            newest_ += fences;
            mine.last_fence = newest_;
        }
        mine.entries.emplace(request.entry);
        extend(mine, request.lease);
        if (!request.entry.empty())
            return {.result = acquire_reply::outcome::granted};
        return {.result = acquire_reply::outcome::granted,
                .fences = fences,
                .first_fence = mine.last_fence - fences + 1};
    }

    renewal_result renew(const renewal& request)
    {
        const std::lock_guard alone(guard_);
        row* const there = find(std::string(request.name));
        if (!is_holder(there, request.owner, request.entry))
            return renewal_result::gone; // a renewal never creates a row
        extend(*there, request.lease);
        return renewal_result::renewed;
    }

    release_reply release(const release_request& request)
    {
        const std::lock_guard alone(guard_);
        const std::string name(request.name);
        row* const there = find(name);
        if (!is_holder(there, request.owner, request.entry))
            return {.result = release_reply::outcome::not_owner};
        there->entries.erase(std::string(request.entry));
        if (!there->entries.empty())
            return {.result = release_reply::outcome::still_held};
        rows_.erase(name);
        return {.result = release_reply::outcome::freed, .receivers_known = false};
    }

    void erase(std::string_view name)
    {
        const std::lock_guard alone(guard_);
        rows_.erase(std::string(name));
    }

    void clear()
    {
        const std::lock_guard alone(guard_);
        rows_.clear();
        newest_ = 0;
    }

private:
    struct row
    {
        std::string owner{};
        std::set<std::string> entries{}; // "" is the acquire, others are reentrant
        server_clock::time_point expires{};
        std::uint64_t last_fence = 0;
    };

    row* find(const std::string& name)
    {
        const auto there = rows_.find(name);
        if (there == rows_.end())
            return nullptr;
        if (there->second.expires > server_clock::now())
            return &there->second;
        rows_.erase(there);
        return nullptr;
    }

    static bool is_holder(const row* there, std::string_view owner, std::string_view entry)
    {
        return there != nullptr && there->owner == owner &&
               there->entries.contains(std::string(entry));
    }

    static milliseconds left(const row& of)
    {
        return std::chrono::ceil<milliseconds>(of.expires - server_clock::now());
    }

    static void extend(row& which, milliseconds lease) // never shortens it
    {
        which.expires = std::max(which.expires, server_clock::now() + lease);
    }

    static std::uint64_t nanoseconds_since_1970()
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    }

    std::mutex guard_;
    std::map<std::string, row> rows_;
    std::uint64_t newest_ = 0;
};
// [/table]

// [store]
/// The store of one client. It replies at once, but never inside the initiating call.
class table_store final : public store
{
public:
    explicit table_store(std::shared_ptr<table> rows) : rows_(std::move(rows)) {}

    store_traits traits() const noexcept override
    {
        store_traits supported;
        supported.publishes = false; // releases are not published: waiters poll with backoff
        return supported;
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        strand_ = strand;
        asio::post(strand_, [&listener, open = open_] {
            if (*open)
                listener.on_connected(0);
        });
    }

    void close() override { *open_ = false; }

    void async_acquire(const acquire_request& request, acquire_handler done) override
    {
        reply_with(std::move(done), *open_ ? rows_->acquire(request) : acquire_reply());
    }

    void async_renew(std::span<const renewal> requests, renew_handler done) override
    {
        std::vector<renewal_result> results;
        for (const renewal& each : requests)
            results.push_back(*open_ ? rows_->renew(each) : renewal_result::failed);
        reply_with(std::move(done), renew_reply(std::move(results)));
    }

    void async_release(const release_request& request, release_handler done) override
    {
        reply_with(std::move(done), *open_ ? rows_->release(request) : release_reply());
    }

    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

private:
    template <class Handler, class Reply>
    void reply_with(Handler done, Reply reply)
    {
        const error_code failed = *open_ ? error_code() : errc::store_unavailable;
        asio::post(strand_, [done = std::move(done), failed, reply = std::move(reply)]() mutable {
            std::move(done)(failed, std::move(reply));
        });
    }

    std::shared_ptr<table> rows_;
    asio::any_io_executor strand_;
    std::shared_ptr<bool> open_ = std::make_shared<bool>(true);
};
// [/store]

// [contract]
class table_lab final : public testing::store_lab
{
public:
    std::shared_ptr<store> make_store() override { return std::make_shared<table_store>(rows_); }
    void erase(std::string_view name) override { rows_->erase(name); }
    void clear() override { rows_->clear(); }

private:
    std::shared_ptr<table> rows_ = std::make_shared<table>();
};

int contract_failures()
{
    int failures = 0;
    for (const testing::contract_case& each : testing::store_contract()) {
        table_lab lab;
        try {
            each.run(lab);
        }
        catch (const std::exception& failed) {
            ++failures;
            std::cerr << each.name << ": " << failed.what() << '\n';
        }
    }
    return failures;
}
// [/contract]

// [scheme]
/// The store of the URL `table:`.
std::shared_ptr<store> make_table_store(std::string_view url)
{
    if (url != "table:")
        throw boost::system::system_error(errc::invalid_url, "URL must be table:");
    static const auto rows = std::make_shared<table>();
    return std::make_shared<table_store>(rows);
}

asio::awaitable<void> lock_by_url()
{
    register_scheme("table", &make_table_store);
    client locks(co_await asio::this_coro::executor, "table:");
    locks.async_run(asio::detached);
    const mutex m(locks, "stock:42");
    lease mine = co_await m.async_lock();
    co_await mine.async_release();
    co_await locks.async_shutdown();
}
// [/scheme]

} // namespace

int main()
{
    asio::io_context context;
    asio::co_spawn(context, lock_by_url(), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);
    });
    context.run();
    return contract_failures() == 0 ? 0 : 1;
}
