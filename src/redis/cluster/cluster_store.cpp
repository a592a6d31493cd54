#include "redis/cluster/cluster_store.hpp"

#include "redis/cluster/shards.hpp"

#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

class cluster_store final : public store
{
public:
    cluster_store(const redis_config& settings, std::shared_ptr<environment> from)
        : all_(std::make_shared<shards>(settings, std::move(from)))
    {}
    // On any thread: after the close, nothing that may still run uses these objects.
    ~cluster_store() override
    {
        if (!closed_)
            close();
    }

    [[nodiscard]] store_traits traits() const noexcept override { return all_->traits(); }
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept override
    {
        return all_->partition_of(name);
    }
    [[nodiscard]] std::string server_of(store_partition partition) const override
    {
        return all_->server_of(partition);
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        all_->open(strand, listener);
    }
    void close() final
    {
        closed_ = true;
        all_->close();
    }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        all_->requests().acquire(request, std::move(handler));
        all_->introduce(request.owner, request.entry, request.lease);
    }
    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        all_->requests().renew(renewals, std::move(handler));
        all_->introduce({}, {}, {});
    }
    void async_release(const release_request& request, release_handler handler) override
    {
        all_->requests().release(request, std::move(handler));
    }
    void async_describe(std::string_view holder, describe_handler handler) override
    {
        all_->describe(holder, std::move(handler));
    }
    [[nodiscard]] client_info own_info() const override { return all_->own_info(); }
    void watch(std::string_view name) override { all_->watch(name); }
    void unwatch(std::string_view name) override { all_->unwatch(name); }

private:
    const std::shared_ptr<shards> all_;
    bool closed_ = false;
};

} // namespace

std::shared_ptr<store> make_cluster_store(const redis_config& settings,
                                          std::shared_ptr<environment> from)
{
    return std::make_shared<cluster_store>(settings, std::move(from));
}

} // namespace leasehold::redis_store::cluster
