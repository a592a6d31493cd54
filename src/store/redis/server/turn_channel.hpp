#ifndef LEASEHOLD_SRC_STORE_REDIS_SERVER_TURN_CHANNEL_HPP
#define LEASEHOLD_SRC_STORE_REDIS_SERVER_TURN_CHANNEL_HPP

#include "store/redis/layout/hearing.hpp"
#include "store/redis/transport/push_connection.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// Where a client hears that it is its turn: one channel for all names, over a connection of its
/// own that is made when the client first waits in a line. All on the strand.
class turn_channel final : public hearing, public push_connection
{
public:
    turn_channel(const config& settings, std::shared_ptr<environment> from)
        : push_connection(settings, std::move(from))
    {}

    /// All owners are of this one's client. Once.
    void belongs_to(std::string_view owner);

    /// The server has confirmed that it tells this client; what was sent before that is not heard.
    [[nodiscard]] bool hears(slot_number) const noexcept override { return hears_; }

    /// Once.
    void listen(slot_number) override;

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view said) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_silence() noexcept override;

    std::string channel_; ///< Empty: nobody has asked for anything yet.
    bool hears_ = false;
};

} // namespace leasehold::redis_store

#endif
