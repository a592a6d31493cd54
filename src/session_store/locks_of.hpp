#ifndef LEASEHOLD_SRC_SESSION_STORE_LOCKS_OF_HPP
#define LEASEHOLD_SRC_SESSION_STORE_LOCKS_OF_HPP

#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::session_store {

/// The store of a state.
/// @tparam State Derived from `state_of`, with `renew`, `describe`, and the functions
///     `make_acquire` and `make_release` in its namespace.
template <class State>
class locks_of final : public store
{
public:
    template <class Config>
    explicit locks_of(const Config& settings) : state_(std::make_shared<State>(settings))
    {}

    // On any thread: after the close, nothing that may still run uses these objects.
    ~locks_of() override { state_->close(); }

    [[nodiscard]] store_traits traits() const noexcept override
    {
        store_traits result;
        result.publishes = false;
        result.queues = true;
        // The server does not know when the client gives up.
        result.rejects_late = false;
        result.describes_holders = true;
        result.session = true;
        result.smallest_lease = std::chrono::milliseconds(10);
        result.fences = store_traits::fence_source::revision;
        return result;
    }

    [[nodiscard]] std::string server_of(store_partition) const override
    {
        return state_->to().server();
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        state_->open(strand, listener);
    }

    void close() override { state_->close(); }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        state_->add(make_acquire(state_, request, std::move(handler)));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        state_->renew(renewals, std::move(handler));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        state_->add(make_release(state_, request, std::move(handler)));
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        state_->describe(holder, std::move(handler));
    }

    [[nodiscard]] client_info own_info() const override { return state_->info(); }

    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

private:
    const std::shared_ptr<State> state_;
};

} // namespace leasehold::session_store

#endif
