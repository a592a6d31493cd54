#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace leasehold::redis_store::cluster {

struct acquire_work
{
    acquire_request asked; ///< Its views are of the request's texts.
    store::acquire_handler handler;
};

struct release_work
{
    release_request asked;
    acquire_request next;
    std::string next_owner; ///< Empty: it carries none.
    store::release_handler handler;
};

/// Renewals that were asked for together, each of which goes its own way.
struct renewal_round
{
    store::renew_handler handler;
    std::vector<renewal_result> results;
    std::shared_ptr<const diagnostics> details;
    std::size_t outstanding = 0;
    bool any_ran = false;
    error_code error;
};

struct renewal_work
{
    renewal asked;
    std::shared_ptr<renewal_round> round;
    std::size_t place;
};

/// What was asked of the store, with its own copies of texts: it may have to be asked again, of
/// another node, whose clock is another. It stays where it is.
struct request
{
    request(std::string_view lock, std::string_view by, std::string_view entered)
        : name(lock), owner(by), entry(entered), slot(slot_of(name))
    {}
    request(const request&) = delete;
    request& operator=(const request&) = delete;

    enum class standing : std::uint8_t
    {
        parked,   ///< Waits here: for a node, its turn, or time to pass.
        sent,     ///< A node has it.
        answered, ///< Its handler is called soon, or was.
    };

    const std::string name, owner, entry;
    const slot_number slot;
    std::variant<std::monostate, acquire_work, release_work, renewal_work> work{};
    standing now = standing::parked;
    store_partition at = 0;     ///< The node that has it.
    store_partition ask_at = 0; ///< The node to which its slot is on its way; 0: none.
    bool asking = false;        ///< It was sent there with ASKING.
    unsigned redirections = 0;
    clock::time_point give_up{};             ///< It is not sent later.
    clock::time_point not_before{};          ///< It is not sent sooner.
    std::shared_ptr<const diagnostics> said; ///< By the node that has not executed it.
    std::list<std::shared_ptr<request>>::iterator place{}; ///< Among those that are parked.

    [[nodiscard]] bool is_renewal() const noexcept
    {
        return std::holds_alternative<renewal_work>(work);
    }
};

using request_ptr = std::shared_ptr<request>;

/// The requests for one name that are not answered, in the order of the calls.
struct lane
{
    std::vector<request_ptr> requests;
    /// They go one after the other: the slot moves, and what two nodes are asked has no order.
    bool careful = false;
};

/// The request has been undone by a later one: its caller has given it up, and it must not run when
/// that has run. A release that carries an owner which has been given up does not carry it any
/// more.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT bool is_undone(const lane& all, request& one);

} // namespace leasehold::redis_store::cluster

#endif
