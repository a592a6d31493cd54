#include "redis/redlock/quorum_store.hpp"

#include "redis/redlock/operations.hpp"
#include "redis/redlock/quorum_state.hpp"

#include <utility>

namespace leasehold::quorum {
namespace {

class quorum_store final : public store
{
public:
    quorum_store(std::vector<std::unique_ptr<member>> members, unsigned grants,
                 std::unique_ptr<detail::time_source> time)
        : state_(std::make_shared<quorum_state>(std::move(members), grants, std::move(time))),
          describes_holders_(!state_->own_info().empty())
    {}

    // On any thread: after the close, nothing that may still run uses these objects.
    ~quorum_store() override
    {
        if (!closed_)
            close();
    }

    [[nodiscard]] store_traits traits() const noexcept override
    {
        return {.describes_holders = describes_holders_,
                .fences = store_traits::fence_source::quorum};
    }

    [[nodiscard]] std::string server_of(store_partition) const override
    {
        return state_->servers();
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        state_->open(strand, listener);
    }

    bool async_drain(drain_handler handler) override { return state_->drain(std::move(handler)); }

    void close() final
    {
        closed_ = true;
        state_->close();
    }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        if (request.entry.empty())
            start_acquire(state_, request, std::move(handler));
        else
            start_reenter(state_, request, std::move(handler));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        start_renew(state_, renewals, std::move(handler));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        start_release(state_, request, std::move(handler));
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        state_->describe(holder, std::move(handler));
    }

    [[nodiscard]] client_info own_info() const override { return state_->own_info(); }

    void watch(std::string_view name) override { state_->watch(name); }
    void unwatch(std::string_view name) override { state_->unwatch(name); }

private:
    const std::shared_ptr<quorum_state> state_;
    const bool describes_holders_;
    bool closed_ = false;
};

} // namespace

std::shared_ptr<store> make_store(std::vector<std::unique_ptr<member>> members, unsigned grants,
                                  std::unique_ptr<detail::time_source> time)
{
    return std::make_shared<quorum_store>(std::move(members), grants, std::move(time));
}

} // namespace leasehold::quorum
