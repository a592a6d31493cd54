#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_GRANT_CHANNEL_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_GRANT_CHANNEL_HPP

#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/wakeups/push_connection.hpp"

#include <leasehold/clock.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// Receives the client's grants: one channel for all names, over a connection of its own that is
/// made when the client first waits in a queue. All on the strand.
///
/// Behind one address, or one name of a master, the two connections may lead to two servers: a
/// demoted server closes no connection, and answers health checks. The scripts count the listeners
/// at the server that runs them. So the client asks that server, over the connection of the
/// commands, how many receivers its messages here have. It asks when the subscription was
/// confirmed, when that connection has changed, and repeatedly while an owner waits. If there is no
/// receiver, this connection is made again. It follows the other, never the reverse.
class grant_channel final : public grant_subscription, public push_connection
{
public:
    grant_channel(const redis_config& settings, std::shared_ptr<environment> from)
        : push_connection(settings, std::move(from)), keys_(settings.prefix)
    {}

    /// Publishes an empty text on the channel, over the connection of the commands. Set before
    /// `open`, as is `now`.
    std::function<void(const std::string& channel, aside::answered handler)> publish;
    std::function<clock::time_point()> now;

    /// Sets the client, which is that of this owner. Called once.
    void belongs_to(std::string_view owner);

    /// Whether the server of the commands notifies this client; earlier messages are missed.
    [[nodiscard]] bool is_subscribed(slot_number) const noexcept override { return receives_; }

    /// Called whenever an owner is in a queue.
    void listen(slot_number) override;

    /// The connection of the commands may lead to another server than before.
    void verify();

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view text) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_silence() noexcept override;

    void checked(error_code failed, answers replies);
    void forget() noexcept;

    const native_keys keys_;
    std::string channel_;           ///< Empty: no owner has waited yet.
    bool subscribed_ = false;       ///< At the server of this connection.
    bool receives_ = false;         ///< At that of the commands.
    std::uint64_t asked_ = 0;       ///< The last question to them; no other reply counts.
    clock::time_point ask_again_{}; ///< The time of the next check, if an owner is in a queue.
};

} // namespace leasehold::redis_store

#endif
