#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_LINK_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_LINK_HPP

#include "core/async/context_lifetime.hpp"
#include "sim/session/lock_service.hpp"
#include "sim/session/session_network.hpp"
#include "testing/time/random.hpp"

#include <leasehold/store.hpp>
#include <leasehold/testing/host.hpp>
#include <leasehold/testing/timer.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace leasehold::test::sessions {

/// A deliberate error of the store, which the checks have to find.
enum class link_error : std::uint8_t
{
    none,
    lease_as_requested, ///< A lease is not limited by the session.
    removal_not_reported,
    grant_not_reported,
};

/// The store of one client: a session of the service, and connections to it one after another.
class session_link final : public store,
                           public leasehold::detail::context_observer,
                           public std::enable_shared_from_this<session_link>
{
public:
    session_link(testing::world& in, testing::host& on, lock_service& to, path& over,
                 link_error error);

    [[nodiscard]] store_traits traits() const noexcept override;
    void open(const asio::any_io_executor& strand, store_listener& listener) override;
    void close() override;
    void async_acquire(const acquire_request& request, acquire_handler handler) override;
    void async_renew(std::span<const renewal> renewals, renew_handler handler) override;
    void async_release(const release_request& request, release_handler handler) override;
    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

    /// Breaks the connection. Messages on their way are lost.
    void reset();

    [[nodiscard]] session_id session() const noexcept { return session_; }

private:
    struct pending
    {
        explicit pending(clock::time_point at) : sent(at) {}
        virtual ~pending() = default;
        virtual void fail(error_code code) = 0;
        const clock::time_point sent;
    };
    template <class Reply, class Handler>
    struct pending_reply;
    class service_end;

    template <class Reply, class Handler, class Execute, class Arrived>
    void request(Handler handler, Execute execute, Arrived arrived);
    template <class Reply, class Handler>
    void answer(Handler handler, error_code code, Reply reply);
    void connect();
    void connected(session_id session, const std::vector<placed_owner>& places);
    void disconnect(error_code why);
    void confirm(clock::time_point sent);
    [[nodiscard]] std::chrono::milliseconds left_from(clock::time_point sent) const;
    void tick();
    void ping();
    void notify_end_of(const std::vector<placed_owner>& left);
    void acquired(acquire_reply& reply, clock::time_point sent, std::chrono::milliseconds asked,
                  const placed_owner& who);
    void on_context_end() noexcept override;

    testing::world& world_;
    testing::host& host_;
    lock_service& service_;
    path& path_;
    const link_error error_;
    testing::timer timer_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    std::shared_ptr<service_end> connection_; ///< Null: none, not even one that is being made.
    bool ready_ = false;
    bool closed_ = false;
    clock::time_point began_{}; ///< The connection, or the pause before the next one.
    clock::time_point pinged_{};
    session_id session_ = 0;
    clock::time_point until_{}; ///< The session lives until then at least.
    std::uint64_t last_request_ = 0;
    std::map<std::uint64_t, std::unique_ptr<pending>> pending_;
    std::set<placed_owner> places_;
};

} // namespace leasehold::test::sessions

#endif
