#include "sql/store/sql_store.hpp"

#include "base/info_text.hpp"
#include "core/async/context_lifetime.hpp"
#include "sql/store/commit_queue.hpp"
#include "sql/store/housekeeping.hpp"
#include "sql/store/listening.hpp"

#include <boost/asio/query.hpp>

#include <string>
#include <utility>

namespace leasehold::sql_store {
namespace {

class database_store final : public store, public std::enable_shared_from_this<database_store>
{
public:
    explicit database_store(const std::shared_ptr<const driver>& how)
        : parts_(std::make_shared<parts>(how))
    {}

    // On any thread: after the close, nothing that may still run uses these objects.
    ~database_store() override { parts_->close(); }

    [[nodiscard]] store_traits traits() const noexcept override
    {
        store_traits result;
        result.publishes = false;
        result.queues = true;
        result.describes_holders = true;
        result.smallest_lease = std::chrono::milliseconds(10);
        return result;
    }

    [[nodiscard]] std::string server_of(store_partition) const override
    {
        return parts_->queue->server();
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        parts_->open(strand, listener);
    }

    void close() override { parts_->close(); }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        const grant_listener to = listener_of(request);
        parts_->queue->add({.made = encode(request, deadline_of(request), to),
                            .name = std::string(request.name),
                            .waiting = waiting_acquire{std::move(handler), to.hears_all()}});
        // Behind it. The owner of a reentrant acquisition may be another client's.
        if (request.entry.empty())
            parts_->belongs_to(request.owner);
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        parts_->queue->add({.made = encode(renewals),
                            .name = {},
                            .waiting = waiting_renew{std::move(handler), renewals.size()}});
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        const auto* const next = request.next;
        const grant_listener to = next != nullptr ? listener_of(*next) : grant_listener();
        const std::int64_t deadline = next != nullptr ? deadline_of(*next) : 0;
        parts_->queue->add({.made = encode(request, deadline, to),
                            .name = std::string(request.name),
                            .waiting = waiting_release{std::move(handler), to.hears_all()}});
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        // A function must be copyable.
        auto kept = std::make_shared<describe_handler>(std::move(handler));
        parts_->queue->add({.made = {procedure::describe, {std::string(holder)}},
                            .name = {},
                            .waiting = waiting_other{[kept](const auto& text) {
                                std::move (*kept)(text ? detail::read_info(*text) : client_info());
                            }}});
    }

    [[nodiscard]] client_info own_info() const override { return parts_->keeper->info(); }

    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

private:
    /// The parts of a store. They are notified of the end of the context.
    struct parts final : detail::context_observer, std::enable_shared_from_this<parts>
    {
        explicit parts(const std::shared_ptr<const driver>& how)
            : queue(std::make_shared<commit_queue>(how)),
              grants(std::make_shared<listening>(how)),
              keeper(std::make_shared<housekeeping>(how->common(), queue))
        {}

        void open(const asio::any_io_executor& strand, store_listener& listener)
        {
            const auto poster = detail::context_poster::make(strand);
            asio::use_service<detail::context_lifetime>(
                asio::query(strand, asio::execution::context))
                .add(shared_from_this());
            queue->on_serving = [weak = weak_from_this()] {
                if (const auto self = weak.lock()) {
                    self->grants->follow(self->queue->server_index());
                    self->keeper->on_serving();
                }
            };
            keeper->open(strand);
            grants->open(strand, listener);
            queue->open(strand, poster, listener);
        }

        void belongs_to(std::string_view owner)
        {
            if (!std::exchange(named, true))
                keeper->belongs_to(owner);
        }

        void close() noexcept
        {
            if (std::exchange(closed, true))
                return;
            keeper->close();
            grants->close();
            queue->close();
        }

        void end(bool forked) noexcept
        {
            closed = true;
            keeper->close();
            grants->drop(forked);
            queue->drop(forked);
        }
        void on_context_end() noexcept override { end(false); }
        void on_fork() noexcept override { end(true); }

        const std::shared_ptr<commit_queue> queue;
        const std::shared_ptr<listening> grants;
        const std::shared_ptr<housekeeping> keeper;
        bool named = false;
        bool closed = false;
    };

    std::int64_t deadline_of(const acquire_request& request) const noexcept
    {
        return parts_->queue->deadline(request.budget);
    }

    /// The session for the notifications of an owner that waits.
    grant_listener listener_of(const acquire_request& request)
    {
        if (!request.waits)
            return {};
        parts_->grants->need(client_of(request.owner), parts_->queue->server_index());
        return parts_->grants->session_at_server();
    }

    const std::shared_ptr<parts> parts_;
};

} // namespace

std::shared_ptr<store> make_store(std::shared_ptr<const driver> how)
{
    return std::make_shared<database_store>(how);
}

} // namespace leasehold::sql_store
