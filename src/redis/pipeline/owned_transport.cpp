#include "redis/pipeline/owned_transport.hpp"

#include "base/mutant.hpp"
#include "redis/config/address.hpp"
#include "redis/connection/readiness_check.hpp"
#include "redis/connection/reconnecting_connection.hpp"
#include "redis/pipeline/batch.hpp"

#include <string>
#include <utility>

namespace leasehold::redis_store {
namespace {

class owned_transport final : public transport,
                              public connection_observer,
                              public std::enable_shared_from_this<owned_transport>
{
public:
    owned_transport(const redis_config& settings, std::shared_ptr<environment> from)
        : where_(settings), from_(std::move(from))
    {}

    void open(const asio::any_io_executor& strand, const std::shared_ptr<detail::context_poster>&,
              const script_set& needed, transport_observer& user) override
    {
        needed_ = &needed;
        observer_ = &user;
        connection_ = std::make_shared<reconnecting_connection>(*from_, strand, where_);
        connection_->open(*this);
    }

    void close() noexcept override
    {
        observer_ = nullptr;
        if (const auto last = std::exchange(connection_, nullptr))
            last->close();
    }

    void drop() noexcept override
    {
        observer_ = nullptr;
        if (const auto last = std::exchange(connection_, nullptr))
            last->drop();
    }

    void send(const std::shared_ptr<batch>& sent) override
    {
        batch::execute(sent, connection_->channel());
    }

    std::shared_ptr<request_channel> channel() const override { return connection_->channel(); }

    void abandon(const std::shared_ptr<batch>& sent) override
    {
        sent->abandon.emit(asio::cancellation_type::terminal);
    }

    void on_read_only() override
    {
        if (connection_ && !has(mutant::read_only_kept))
            connection_->reset(errc::store_refused, "READONLY");
    }

    void begin_again(error_code why, std::string_view text) override
    {
        if (connection_)
            connection_->reset(why, text);
    }

    std::string server() const override
    {
        if (where_.kind == redis_config::deployment::sentinel)
            return "master " + where_.master;
        if (!where_.unix_socket.empty())
            return where_.unix_socket;
        return name_of(where_.addresses.front());
    }

private:
    // Each attempt has its own check. The late answer of an older one is ignored: it belongs to
    // another connection.
    void on_attempt() override
    {
        const auto check = std::make_shared<readiness_check>(
            *needed_, where_.kind == redis_config::deployment::cluster, where_.prefix);
        check_ = check;
        connection_->send(check->request(), check->adapter(),
                          [self = shared_from_this(), check](error_code error) {
                              if (!error && self->check_ == check)
                                  self->on_answer(*check);
                          });
    }

    void on_answer(const readiness_check& check)
    {
        if (const auto found = check.result(); found.code) {
            if (connection_ && !has(mutant::readiness_not_repeated))
                connection_->reset(found.code, found.text);
        }
        else if (observer_ != nullptr)
            observer_->on_up(check.server_us());
    }

    void on_lost(error_code why, std::string_view text) override
    {
        check_.reset();
        if (observer_ != nullptr)
            observer_->on_down(why, text);
    }

    const redis_config where_;
    const std::shared_ptr<environment> from_;
    const script_set* needed_ = nullptr;
    transport_observer* observer_ = nullptr;
    std::shared_ptr<reconnecting_connection> connection_;
    std::shared_ptr<readiness_check> check_;
};

} // namespace

std::shared_ptr<transport> make_owned_transport(const redis_config& settings,
                                                std::shared_ptr<environment> from)
{
    return std::make_shared<owned_transport>(settings, std::move(from));
}

} // namespace leasehold::redis_store
