#include "core/async/context_lifetime.hpp"
#include "memory/memory_space_state.hpp"

#include <leasehold/memory.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <functional>
#include <string>
#include <utility>

namespace leasehold {
namespace {

/// One client's access to a space. Requests are served within the call, so they are executed in the
/// order of the calls; only the reply goes through the strand.
class memory_store final : public store,
                           public memory::watcher,
                           public detail::context_observer,
                           public std::enable_shared_from_this<memory_store>
{
public:
    explicit memory_store(std::shared_ptr<memory_space> space) noexcept : space_(std::move(space))
    {}

    ~memory_store() { leave(); }

    [[nodiscard]] store_traits traits() const noexcept override { return {.queues = true}; }

    [[nodiscard]] std::string server_of(store_partition) const override { return "memory:"; }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
            .add(shared_from_this());
        me_ = state().join(shared_from_this(), strand);
        strand_ = strand;
        listener_ = &listener;
        asio::post(strand_, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && self->listener_ != nullptr)
                self->listener_->on_connected(0);
            if (self && self->listener_ != nullptr)
                self->listener_->on_listening(0);
        });
    }

    void close() override { leave(); }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        if (listener_ == nullptr)
            return answer(std::move(handler), errc::store_unavailable, acquire_reply{});
        answer(std::move(handler), error_code(), state().acquire(request, me_));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        if (listener_ == nullptr)
            return answer(std::move(handler), errc::store_unavailable, renew_reply());
        answer(std::move(handler), error_code(), renew_reply(state().renew(renewals)));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        if (listener_ == nullptr)
            return answer(std::move(handler), errc::store_unavailable, release_reply{});
        answer(std::move(handler), error_code(), state().release(request, me_));
    }

    void watch(std::string_view name) override
    {
        if (listener_ == nullptr || !watched_.emplace(name).second)
            return;
        state().watch(name, shared_from_this(), strand_);
    }

    void unwatch(std::string_view name) override
    {
        if (const auto found = watched_.find(name); found != watched_.end()) {
            state().unwatch(name, this);
            watched_.erase(found);
        }
    }

private:
    using names = boost::unordered_flat_set<std::string, detail::name_hash, std::equal_to<>>;

    [[nodiscard]] memory_space::state& state() const noexcept { return space_->get(); }

    // The post owns only the handler, so it is called even if this store is closed or destroyed
    // meanwhile. If the context ends first, it destroys the handler.
    template <class Handler, class Reply>
    void answer(Handler handler, error_code code, Reply reply)
    {
        if (!strand_)
            return; // the context has ended, and no other executor could run the handler
        asio::post(strand_,
                   [handler = std::move(handler), code, reply = std::move(reply)]() mutable {
                       std::move(handler)(code, std::move(reply));
                   });
    }

    void on_wakeup(std::string_view name) override
    {
        // The store or the watch may have ended before the wake-up arrived.
        if (listener_ != nullptr && watched_.contains(name))
            listener_->on_wakeup(name);
    }

    void on_grant(std::string_view name, std::string_view owner) override
    {
        if (listener_ != nullptr)
            listener_->on_grant(name, owner);
    }

    void on_context_end() noexcept override
    {
        leave();
        // A strand must not outlive its context.
        strand_ = {};
    }

    void leave() noexcept
    {
        listener_ = nullptr;
        state().part(std::exchange(me_, 0));
        for (const std::string& name : watched_)
            state().unwatch(name, this);
        watched_.clear();
    }

    std::shared_ptr<memory_space> space_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    names watched_;
    memory::client_id me_ = 0;
};

} // namespace

std::shared_ptr<store> make_memory_store(std::shared_ptr<memory_space> space)
{
    return std::make_shared<memory_store>(std::move(space));
}

} // namespace leasehold
