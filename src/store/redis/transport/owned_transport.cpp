#include "store/redis/transport/owned_transport.hpp"

#include "store/redis/batch.hpp"
#include "store/redis/transport/readiness_check.hpp"
#include "store/redis/transport/reconnecting_connection.hpp"

#include <utility>

namespace leasehold::redis_store {
namespace {

class own_link final : public link, public wire_user, public std::enable_shared_from_this<own_link>
{
public:
    explicit own_link(const config& where) : where_(where) {}

    void open(const asio::any_io_executor& strand, const std::shared_ptr<gate>&, link_user& user) override
    {
        user_ = &user;
        wire_ = std::make_shared<wire>(strand, where_);
        wire_->open(*this);
    }

    void close() noexcept override
    {
        user_ = nullptr;
        if (const auto last = std::exchange(wire_, nullptr))
            last->close();
    }

    void drop() noexcept override
    {
        user_ = nullptr;
        if (const auto last = std::exchange(wire_, nullptr))
            last->drop();
    }

    void send(const std::shared_ptr<batch>& what) override
    {
        wire_->send(what->request, what->adapter(), what->abandon.slot(), [what](error_code error, bool sent) {
            const error_code unanswered = sent ? errc::outcome_unknown : errc::store_unavailable;
            const auto owner = what->owner;
            owner->on_end(what, error ? unanswered : error_code());
        });
    }

    void abandon(const std::shared_ptr<batch>& what) override { what->abandon.emit(asio::cancellation_type::terminal); }

    void on_read_only() override
    {
        if (wire_)
            wire_->reset(errc::store_refused);
    }

private:
    // Each attempt has its own probe; an older one that ends late says nothing about this connection.
    void on_attempt() override
    {
        const auto asked = std::make_shared<probe>();
        probe_ = asked;
        wire_->send(asked->request, asked->adapter(), {}, [self = shared_from_this(), asked](error_code error, bool) {
            if (!error && self->probe_ == asked)
                self->on_answer(*asked);
        });
    }

    void on_answer(const probe& asked)
    {
        if (asked.refused()) {
            if (wire_)
                wire_->reset(errc::store_refused);
        } else if (user_ != nullptr)
            user_->on_up(asked.server_us());
    }

    void on_lost(error_code why) override
    {
        probe_.reset();
        if (user_ != nullptr)
            user_->on_down(why);
    }

    const config where_;
    link_user* user_ = nullptr;
    std::shared_ptr<wire> wire_;
    std::shared_ptr<probe> probe_;
};

} // namespace

std::shared_ptr<link> make_own_link(const config& where)
{
    return std::make_shared<own_link>(where);
}

} // namespace leasehold::redis_store
