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
    acquire_request request; ///< Its views refer to the request's texts.
    store::acquire_handler handler;
};

struct release_work
{
    release_request request;
    acquire_request next;
    std::string next_owner; ///< Empty: no next owner.
    store::release_handler handler;
};

/// Renewals that were requested together and are sent separately.
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
    renewal request;
    std::shared_ptr<renewal_round> round;
    std::size_t place;
};

/// A request to the store with its own copies of texts: it may be sent again to another node, with
/// another clock. Its address is stable.
struct request
{
    request(std::string_view lock, std::string_view by, std::string_view reentered)
        : name(lock), owner(by), entry(reentered), slot(slot_of(name))
    {}
    request(const request&) = delete;
    request& operator=(const request&) = delete;

    enum class state : std::uint8_t
    {
        parked,   ///< Waits here: for a node, for earlier requests, or for a time.
        sent,     ///< A node has it.
        answered, ///< Its handler was called, or will be soon.
    };

    const std::string name, owner, entry;
    const slot_number slot;
    std::variant<std::monostate, acquire_work, release_work, renewal_work> work{};
    state now = state::parked;
    store_partition at = 0;     ///< The node that has it.
    store_partition ask_at = 0; ///< The node to which its slot migrates. 0: none.
    unsigned redirections = 0;
    clock::time_point give_up{};                           ///< It is not sent after this time.
    clock::time_point not_before{};                        ///< It is not sent before this time.
    std::shared_ptr<const diagnostics> rejection;          ///< By the node that did not execute it.
    std::list<std::shared_ptr<request>>::iterator place{}; ///< Among the parked requests.

    [[nodiscard]] bool is_renewal() const noexcept
    {
        return std::holds_alternative<renewal_work>(work);
    }
};

using request_ptr = std::shared_ptr<request>;

/// The unanswered requests for one name, in the order of the calls.
struct lane
{
    std::vector<request_ptr> requests;
    /// Sent one after the other: the slot moves, and requests to two nodes have no order.
    bool careful = false;
};

/// Whether a later call has undone the request: its caller has cancelled it, and it must not be
/// executed after the release. If the next owner of a release was cancelled, the release is sent
/// without it.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT bool is_undone(const lane& all, request& one);

} // namespace leasehold::redis_store::cluster

#endif
