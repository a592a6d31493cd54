#ifndef LEASEHOLD_SRC_STORE_REDIS_REPLICA_CONFIRMATION_HPP
#define LEASEHOLD_SRC_STORE_REDIS_REPLICA_CONFIRMATION_HPP

#include "store/redis/transport/push_connection.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace leasehold::redis_store {

/// Asks whether enough replicas have what the server was told: a lock that was granted or renewed.
/// On a connection of its own, because WAIT holds up all that comes behind it. All on the strand.
///
/// WAIT speaks of what its own connection has written, and of one server. So a round looks for each
/// lock first, then writes a marker, then waits for the marker: replicas that have it have what was
/// in that server before it, the locks that were found there above all, whatever server the other
/// connection talked to. A lock that is not found shows that they talk to two: one of them is not
/// the master any more. One round is under way at a time; what comes meanwhile shares the next.
class replica_confirmation final : public push_connection
{
public:
    replica_confirmation(const config& settings, std::shared_ptr<environment> from);

    /// `missing`: why it is not known that enough replicas have it; empty: they have.
    using handler = asio::any_completion_handler<void(std::string missing)>;

    /// To be called when the server that is asked here is another one than the one that said what
    /// is to be confirmed. Set before `open`.
    std::function<void()> on_other_server;

    /// Does not call the handler itself. The views are valid during the call only.
    /// @throws std::bad_alloc Nothing has begun, and the handler is as it was.
    void confirm(const renewal& held, handler& done);

private:
    struct question
    {
        std::string name, owner, entry;
        std::uint32_t acks;
        std::chrono::milliseconds timeout;
        handler done;

        [[nodiscard]] renewal lock() const noexcept { return {name, owner, {}, entry}; }
    };
    struct round;

    void on_attempt() override {}
    void on_lost(error_code, std::string_view) override {}
    void on_silence() noexcept override {} // what is under way ends, and what waits after it
    void on_forget() noexcept override;

    void begin_soon();
    void begin();
    [[nodiscard]] std::shared_ptr<round> next_round();
    void end(round& asked, error_code failed);

    const config::key_layout keys_;
    std::list<question> waiting_;
    bool busy_ = false; ///< A round is under way, or about to begin.
};

} // namespace leasehold::redis_store

#endif
