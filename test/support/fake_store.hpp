#ifndef LEASEHOLD_TEST_SUPPORT_FAKE_STORE_HPP
#define LEASEHOLD_TEST_SUPPORT_FAKE_STORE_HPP

#include "core/async/context_lifetime.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A store whose replies the test supplies. Calls are recorded in order and wait for a reply. The
/// first of each kind has the index 0. Handlers and listener are called on the strand and never
/// inside a call. Functions that are not of `store` may be called from any thread. Create it with
/// `std::make_shared`.
class fake_store final : public store,
                         public detail::context_observer,
                         public std::enable_shared_from_this<fake_store>
{
public:
    using milliseconds = std::chrono::milliseconds;

    struct acquire_call
    {
        std::string name;
        std::string owner;
        std::string entry;
        milliseconds lease{};
        std::uint32_t fences = 0;
        milliseconds budget{};
        bool needs_holder = false;
        bool again = false;
        bool waits = false;
        milliseconds presence{};
        milliseconds claim{};
        std::uint32_t replica_acks = 0;
        milliseconds replica_timeout{};
        milliseconds dead_holder_grace{};
        bool answered = false;
    };

    struct renewed_lock
    {
        std::string name;
        std::string owner;
        milliseconds lease{};
        std::string entry;
        std::uint32_t replica_acks = 0;
        milliseconds replica_timeout{};
    };

    struct renew_call
    {
        std::vector<renewed_lock> locks;
        bool answered = false;
    };

    struct release_call
    {
        std::string name;
        std::string owner;
        std::string entry;
        std::optional<acquire_call> next{};
        std::chrono::milliseconds external_time{};
        bool answered = false;
    };

    struct alive_call
    {
        std::string client;
        bool answered = false;
    };

    struct watch_call
    {
        bool begin = true; ///< `watch`, otherwise `unwatch`.
        std::string name;
    };

    // store
    void open(const asio::any_io_executor& strand, store_listener& listener) override;
    /// Completes outstanding calls with `outcome_unknown`, unless `keep_at_close`, and later ones
    /// with `store_unavailable`.
    void close() override;
    void async_acquire(const acquire_request& request, acquire_handler handler) override;
    void async_renew(std::span<const renewal> renewals, renew_handler handler) override;
    void async_release(const release_request& request, release_handler handler) override;
    void async_describe(std::string_view holder, describe_handler handler) override;
    void async_heartbeat(std::string_view client, heartbeat_handler handler) override;
    bool async_drain(drain_handler handler) override;
    void watch(std::string_view name) override;
    void unwatch(std::string_view name) override;

    /// @name The recorded calls
    /// @{
    std::vector<acquire_call> acquires() const;
    std::vector<renew_call> renewals() const;
    std::vector<release_call> releases() const;
    std::vector<alive_call> heartbeats() const;
    std::vector<std::string> described() const; ///< Holders whose records were requested.
    std::vector<watch_call> watches() const;
    std::set<std::string, std::less<>> watched() const; ///< Names that are watched now.
    std::size_t acquire_count() const;
    std::size_t renew_count() const;
    std::size_t release_count() const;
    std::size_t pending() const; ///< Calls that wait for a reply.
    bool is_open() const;
    bool is_closed() const;
    /// The violations of the contract of `store` by the caller, for example a call off the strand;
    /// empty if none.
    std::string misuse() const;
    /// @}

    /// @name Replies. They throw `std::logic_error` if there is no such call, or it was answered.
    /// @{
    void complete_acquire(std::size_t index, error_code code, acquire_reply reply = {});
    void complete_renew(std::size_t index, error_code code, renew_reply reply = {});
    void complete_release(std::size_t index, error_code code, release_reply reply = {});

    /// @param known The store knows an earlier heartbeat.
    void complete_alive(std::size_t index, error_code code, bool known = true);

    /// Answers the last of `described`.
    void describe(client_info said);

    /// The store has drained.
    void drained();

    void grant(std::size_t index, std::uint64_t first_fence, std::uint32_t fences = 1);
    void say_held(std::size_t index, milliseconds remaining);
    void renew_all(std::size_t index, renewal_result result = renewal_result::renewed);
    void say_freed(std::size_t index, std::uint64_t receivers = 0);
    /// @}

    /// @name Notifications of the listener. None after `close`.
    /// @{
    void wakeup(std::string name);
    void notify_grant(std::string name, std::string owner);
    void remove(std::string name, std::string owner);
    void listen();
    void settle(store_partition partition = 0);
    void connect(store_partition partition = 0);
    void disconnect(error_code why, store_partition partition = 0);
    void explain(error_code code, diagnostics details, store_partition partition = 0);

    /// From now on, names that begin with "1:" are in partition 1, those with "2:" in 2, and others
    /// in 0.
    void split() noexcept { split_ = true; }
    /// From now on, the name is in this partition.
    void move(std::string name, store_partition to);
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept override;

    /// Set before the client is created.
    store_traits can;
    [[nodiscard]] store_traits traits() const noexcept override { return can; }

    /// Whether there is something to drain.
    bool drains = false;
    std::size_t drains_count = 0; ///< The number of calls to drain.

    /// The address that it reports.
    std::string server;
    [[nodiscard]] std::string server_of(store_partition) const override { return server; }
    /// @}

    /// Called for a release request, inside the call.
    std::function<void()> on_release;

    /// Leaves outstanding calls unanswered at `close`, like a slow store.
    void keep_at_close();

private:
    template <class Call, class Handler>
    struct pending_call
    {
        Call call;
        Handler handler;
    };
    template <class Call, class Handler>
    using calls = std::vector<pending_call<Call, Handler>>;

    void on_context_end() noexcept override;
    void check_call(const char* function);
    template <class Calls, class Reply>
    void complete(Calls& all, std::size_t index, error_code code, Reply reply);
    template <class Calls, class Call, class Handler, class Reply>
    void add(Calls& all, Call call, Handler handler, Reply empty);
    template <class Calls, class Reply>
    void complete_rest(Calls& all, error_code code, Reply reply);
    template <class Handler, class Reply>
    void post(Handler handler, error_code code, Reply reply);
    template <class Tell>
    void notify(Tell event);

    mutable std::mutex mutex_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    bool split_ = false;
    std::map<std::string, store_partition, std::less<>> moved_;
    bool opened_ = false;
    bool closed_ = false;
    bool keep_at_close_ = false;
    std::string misuse_;
    calls<acquire_call, acquire_handler> acquires_;
    calls<renew_call, renew_handler> renewals_;
    calls<release_call, release_handler> releases_;
    calls<alive_call, heartbeat_handler> heartbeats_;
    std::vector<std::pair<std::string, describe_handler>> described_;
    drain_handler drain_;
    std::vector<watch_call> watches_;
    std::set<std::string, std::less<>> watched_;
};

} // namespace leasehold::test

#endif
