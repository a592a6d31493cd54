#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_TURN_CHANNEL_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_TURN_CHANNEL_HPP

#include "redis/commands/hearing.hpp"
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

/// Where a client hears that it is its turn: one channel for all names, over a connection of its
/// own that is made when the client first waits in a line. All on the strand.
///
/// Behind one address, or one name of a master, the two connections may lead to two servers: one
/// that was demoted ends none, and answers its signs of life. Whom the scripts count is who listens
/// at the server that runs them. So that one is asked, over the connection of the commands, how
/// many it tells what is published here: when the subscription was confirmed, when that connection
/// is another, and now and then while somebody waits. Nobody: this connection is made again. It
/// follows the other, never the other way round.
class turn_channel final : public hearing, public push_connection
{
public:
    turn_channel(const config& settings, std::shared_ptr<environment> from)
        : push_connection(settings, std::move(from))
    {}

    /// Publishes an empty text on the channel, over the connection of the commands. Set before
    /// `open`, and so is this.
    std::function<void(const std::string& channel, aside::answered told)> publish;
    std::function<clock::time_point()> now;

    /// All owners are of this one's client. Once.
    void belongs_to(std::string_view owner);

    /// The server of the commands tells this client; what was sent before that is not heard.
    [[nodiscard]] bool hears(slot_number) const noexcept override { return hears_; }

    /// Whenever somebody is in a line.
    void listen(slot_number) override;

    /// The connection of the commands may lead to another server than before.
    void verify();

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view said) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_silence() noexcept override;

    void told(error_code failed, answers said);
    void forget() noexcept;

    std::string channel_;           ///< Empty: nobody has asked for anything yet.
    bool subscribed_ = false;       ///< At the server of this connection.
    bool hears_ = false;            ///< At that of the commands.
    std::uint64_t asked_ = 0;       ///< The last question of them; no other answer counts.
    clock::time_point ask_again_{}; ///< When to ask again, should anybody be in a line.
};

} // namespace leasehold::redis_store

#endif
