#ifndef LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATIONS_HPP
#define LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATIONS_HPP

#include "redis/replicas/replica_confirmation.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// Checks whether enough replicas have the writes of one server, over one connection for each
/// requested number of replicas. WAIT blocks its connection until that many have confirmed, or
/// until its time limit: a request for more replicas than exist must not delay the others. Equal
/// numbers do not delay each other: replicas confirm in the order of the writes. All on the strand.
class replica_confirmations
{
public:
    replica_confirmations(const redis_config& settings, std::shared_ptr<environment> from);

    // As for each of them.

    std::function<void()> on_other_server;
    std::function<std::optional<slot_number>(slot_number but)> other_slot;
    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, store_listener& listener);
    void close() noexcept;
    [[nodiscard]] std::shared_ptr<unconfirmed> expect(const renewal& held, bool asking = false);
    void confirm(const std::shared_ptr<unconfirmed>& lock, unconfirmed::handler done);
    void lost_commands();
    void leaving(std::string_view owner, std::string_view entry) noexcept;

private:
    [[nodiscard]] std::shared_ptr<replica_confirmation> make() const;
    replica_confirmation& of(std::uint32_t acks);

    const redis_config settings_;
    const std::shared_ptr<environment> from_;
    /// By the number of replicas. 0: not used yet.
    std::vector<std::pair<std::uint32_t, std::shared_ptr<replica_confirmation>>> all_;
};

} // namespace leasehold::redis_store

#endif
