#include <leasehold/etcd.hpp>

#include "base/tls.hpp"
#include "etcd/store/store_state.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {
namespace {

using etcd_store::store_state;

class etcd_locks final : public store
{
public:
    explicit etcd_locks(const etcd_config& settings)
        : state_(std::make_shared<store_state>(settings))
    {}

    // On any thread: after the close, nothing that may still run uses these objects.
    ~etcd_locks() override { state_->close(); }

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

    void async_acquire(const acquire_request& asked, acquire_handler handler) override
    {
        state_->add(etcd_store::make_acquire(state_, asked, std::move(handler)));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        state_->renew(renewals, std::move(handler));
    }

    void async_release(const release_request& asked, release_handler handler) override
    {
        state_->add(etcd_store::make_release(state_, asked, std::move(handler)));
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        state_->describe(holder, std::move(handler));
    }

    [[nodiscard]] client_info own_info() const override { return state_->info(); }

    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

private:
    const std::shared_ptr<store_state> state_;
};

std::shared_ptr<store> make_etcd_store_of(std::string_view url)
{
    return make_etcd_store(etcd_config(url));
}

} // namespace

std::shared_ptr<store> make_etcd_store(const etcd_config& settings)
{
    settings.validate();
    if (settings.tls) // files that cannot be read are reported now
        static_cast<void>(detail::make_tls_context({.ca_file = settings.tls_ca_file,
                                                    .cert_file = settings.tls_cert_file,
                                                    .key_file = settings.tls_key_file,
                                                    .verify = settings.tls_verify}));
    return std::make_shared<etcd_locks>(settings);
}

namespace detail {

bool register_etcd()
{
    return register_scheme("etcd", &make_etcd_store_of);
}

} // namespace detail
} // namespace leasehold
