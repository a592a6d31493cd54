#include "postgres/store/postgres_store.hpp"

#include "core/async/context_lifetime.hpp"
#include "postgres/protocol/info_text.hpp"
#include "postgres/store/commit_queue.hpp"
#include "postgres/store/housekeeping.hpp"
#include "postgres/store/listening.hpp"

#include <boost/asio/query.hpp>

#include <string>
#include <utility>

namespace leasehold::postgres_store {
namespace {

class postgres_store final : public store, public std::enable_shared_from_this<postgres_store>
{
public:
    explicit postgres_store(const postgres_config& settings)
        : parts_(std::make_shared<parts>(settings))
    {}

    // On any thread: after the close, nothing that may still run uses these objects.
    ~postgres_store() override { parts_->close(); }

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

    void async_acquire(const acquire_request& asked, acquire_handler handler) override
    {
        const std::int32_t number = listener_of(asked);
        parts_->queue->add({.what = statement::acquire,
                            .name = std::string(asked.name),
                            .values = encode(asked, deadline_of(asked), number),
                            .waiting = waiting_acquire{std::move(handler), number != 0}});
        // Behind it. The owner of a reentrant acquisition may be another client's.
        if (asked.entry.empty())
            parts_->belongs_to(asked.owner);
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        parts_->queue->add({.what = statement::renew,
                            .name = {},
                            .values = encode(renewals),
                            .waiting = waiting_renew{std::move(handler), renewals.size()}});
    }

    void async_release(const release_request& asked, release_handler handler) override
    {
        const std::int32_t number = asked.next != nullptr ? listener_of(*asked.next) : 0;
        const std::int64_t deadline = asked.next != nullptr ? deadline_of(*asked.next) : 0;
        parts_->queue->add({.what = statement::release,
                            .name = std::string(asked.name),
                            .values = encode(asked, deadline, number),
                            .waiting = waiting_release{std::move(handler), number != 0}});
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        // A function must be copyable.
        auto kept = std::make_shared<describe_handler>(std::move(handler));
        parts_->queue->add({.what = statement::describe,
                            .name = {},
                            .values = encode_describe(holder),
                            .waiting = waiting_other{[kept](const auto& text) {
                                std::move (*kept)(text ? read_info(*text) : client_info());
                            }}});
    }

    [[nodiscard]] client_info own_info() const override { return parts_->keeper->info(); }

    void watch(std::string_view) override {}
    void unwatch(std::string_view) override {}

private:
    /// The parts of a store. They are notified of the end of the context.
    struct parts final : detail::context_observer, std::enable_shared_from_this<parts>
    {
        explicit parts(const postgres_config& settings)
            : queue(std::make_shared<commit_queue>(settings)),
              grants(std::make_shared<listening>(settings)),
              keeper(std::make_shared<housekeeping>(settings, queue))
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

    std::int64_t deadline_of(const acquire_request& asked) const noexcept
    {
        return parts_->queue->deadline(asked.budget);
    }

    /// The session for the notifications of an owner that waits.
    std::int32_t listener_of(const acquire_request& asked)
    {
        if (!asked.waits)
            return 0;
        parts_->grants->need(client_of(asked.owner), parts_->queue->server_index());
        return parts_->grants->number();
    }

    const std::shared_ptr<parts> parts_;
};

} // namespace

std::shared_ptr<store> make_store(const postgres_config& settings)
{
    return std::make_shared<postgres_store>(settings);
}

} // namespace leasehold::postgres_store
