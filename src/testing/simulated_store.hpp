#ifndef LEASEHOLD_SRC_TESTING_SIMULATED_STORE_HPP
#define LEASEHOLD_SRC_TESTING_SIMULATED_STORE_HPP

#include "store/redis/protocol/server_clock.hpp"
#include "testing/call.hpp"
#include "testing/host_state.hpp"

#include <leasehold/store.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

class server_state;

/// A client's connection to a simulated server: what becomes of each message, and what the client
/// is told.
class simulated_store final : public store, public std::enable_shared_from_this<simulated_store>
{
public:
    simulated_store(host_state& where, server_state& to);
    ~simulated_store() override;

    void open(const asio::any_io_executor& strand, store_listener& listener) override;
    void close() override;
    void async_acquire(const acquire_request& request, acquire_handler handler) override;
    void async_renew(std::span<const renewal> renewals, renew_handler handler) override;
    void async_release(const release_request& request, release_handler handler) override;
    void watch(std::string_view name) override;
    void unwatch(std::string_view name) override;

    // From the world.
    /// The connection is reset; noticed on the strand.
    void reset();
    /// An answer leaves the server.
    void reply(const call_ptr& to, answer said);
    /// A published release leaves the server.
    void publish(std::string_view name, std::uint64_t connection);
    void false_hint(std::string_view name);

    [[nodiscard]] host_state& host() const noexcept { return host_; }
    [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }

private:
    class arrival;
    class posted_op;
    class patience;

    [[nodiscard]] bool is_open() const noexcept { return listener_ != nullptr; }
    call_ptr make(call::kind what);
    void send(const call_ptr& what);
    void transmit(const call_ptr& what);
    void arrive_after(const call_ptr& what, clock::duration extra, bool reset_after);
    [[nodiscard]] clock::duration latency() noexcept;
    template <class Handler, class Reply>
    void refuse(Handler handler, Reply reply);
    template <class F>
    void on_strand(F f);

    void attempt();
    void retry();
    void attempt_later();
    [[nodiscard]] bool sends() noexcept;
    void connected(std::int64_t server_us);
    void answered(const call_ptr& to, answer& said);
    void finish(call& what, answer& said);
    void lost(std::uint64_t connection);
    void watch_time();
    void look_at_time();
    void subscribe(std::string_view name);
    void line(const std::string& text) { host_.line(text); }

    host_state& host_;
    server_state& server_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    bool connected_ = false;
    std::uint64_t connection_ = 0;
    redis_store::server_clock server_time_;
    std::vector<call_ptr> pending_; ///< Oldest first.
    std::vector<std::string> watched_;
    clock::time_point last_up_{};
    clock::time_point last_down_{};
    std::unique_ptr<patience> patience_;
};

} // namespace leasehold::testing::impl

#endif
