#include "redis/prefixed_store.hpp"

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

using details_ptr = std::shared_ptr<const diagnostics>;

/// The prefix of the keys, and the conversion between keys and names.
class key_prefix
{
public:
    explicit key_prefix(std::string_view text) : text_(text) {}

    void append_key(std::string_view name, std::string& out) const
    {
        out.append(text_).append(name);
    }

    [[nodiscard]] std::string_view name_of(std::string_view key) const noexcept
    {
        return key.starts_with(text_) ? key.substr(text_.size()) : key;
    }

    [[nodiscard]] diagnostics named(diagnostics details) const
    {
        details.key.erase(0, details.key.size() - name_of(details.key).size());
        return details;
    }

    /// If there is no memory for a copy, the details keep the key.
    [[nodiscard]] details_ptr named(details_ptr details) const noexcept
    try {
        if (!details || details->key.empty())
            return details;
        return std::make_shared<const diagnostics>(named(*details));
    }
    catch (const std::bad_alloc&) {
        return details;
    }

    [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }

private:
    const std::string text_;
};

using prefix_ptr = std::shared_ptr<const key_prefix>;

/// Invokes the handler with names in the details of the reply.
template <class Reply, class Handler>
auto with_names(const prefix_ptr& prefix, Handler handler)
{
    return [prefix, handler = std::move(handler)](error_code failed, Reply reply) mutable {
        reply.details = prefix->named(std::move(reply.details));
        std::move(handler)(failed, std::move(reply));
    };
}

class prefixed_store final : public store, private store_listener
{
public:
    prefixed_store(std::string_view prefix, std::shared_ptr<store> keys)
        : prefix_(std::make_shared<const key_prefix>(prefix)), keys_(std::move(keys))
    {}

    [[nodiscard]] store_traits traits() const noexcept override { return keys_->traits(); }

    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept override
    try {
        return keys_->partition_of(key_of(name));
    }
    catch (const std::bad_alloc&) {
        return 0; // an error is then reported for another partition
    }

    [[nodiscard]] std::string server_of(store_partition partition) const override
    {
        return keys_->server_of(partition);
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        listener_ = &listener;
        keys_->open(strand, *this);
    }
    bool async_drain(drain_handler handler) override
    {
        return keys_->async_drain(std::move(handler));
    }
    void close() override { keys_->close(); }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        acquire_request mapped = request;
        mapped.name = key_of(request.name);
        keys_->async_acquire(mapped, with_names<acquire_reply>(prefix_, std::move(handler)));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        std::size_t size = 0;
        for (const renewal& each : renewals)
            size += prefix_->size() + each.name.size();
        key_.clear();
        key_.reserve(size); // views into it stay valid
        renewals_.assign(renewals.begin(), renewals.end());
        for (renewal& each : renewals_) {
            const std::size_t begin = key_.size();
            prefix_->append_key(each.name, key_);
            each.name = std::string_view(key_).substr(begin);
        }
        keys_->async_renew(renewals_, with_names<renew_reply>(prefix_, std::move(handler)));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        release_request mapped = request;
        mapped.name = key_of(request.name);
        acquire_request next;
        if (request.next != nullptr) {
            next = *request.next;
            next.name = mapped.name;
            mapped.next = &next;
        }
        keys_->async_release(mapped, with_names<release_reply>(prefix_, std::move(handler)));
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        keys_->async_describe(holder, std::move(handler));
    }
    [[nodiscard]] client_info own_info() const override { return keys_->own_info(); }
    void async_heartbeat(std::string_view client, heartbeat_handler handler) override
    {
        keys_->async_heartbeat(client, std::move(handler));
    }

    void watch(std::string_view name) override { keys_->watch(key_of(name)); }
    void unwatch(std::string_view name) override { keys_->unwatch(key_of(name)); }

private:
    /// Valid until the next call.
    std::string_view key_of(std::string_view name) const
    {
        key_.clear();
        prefix_->append_key(name, key_);
        return key_;
    }

    void on_wakeup(std::string_view key) override { listener_->on_wakeup(prefix_->name_of(key)); }
    void on_grant(std::string_view key, std::string_view owner) override
    {
        listener_->on_grant(prefix_->name_of(key), owner);
    }
    void on_listening(store_partition partition) override { listener_->on_listening(partition); }
    void on_settled(store_partition partition) override { listener_->on_settled(partition); }
    void on_connected(store_partition partition) override { listener_->on_connected(partition); }
    void on_disconnected(store_partition partition, error_code why) override
    {
        listener_->on_disconnected(partition, why);
    }
    void on_error(store_partition partition, error_code code, const diagnostics& details) override
    {
        if (details.key.empty())
            return listener_->on_error(partition, code, details);
        listener_->on_error(partition, code, prefix_->named(details));
    }

    const prefix_ptr prefix_;
    const std::shared_ptr<store> keys_;
    store_listener* listener_ = nullptr;
    mutable std::string key_; ///< Reused memory, as the next one.
    std::vector<renewal> renewals_;
};

} // namespace

std::shared_ptr<store> with_prefix(std::string_view prefix, std::shared_ptr<store> keys)
{
    if (prefix.empty())
        return keys;
    return std::make_shared<prefixed_store>(prefix, std::move(keys));
}

} // namespace leasehold::redis_store
