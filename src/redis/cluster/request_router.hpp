#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_ROUTER_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_ROUTER_HPP

#include "core/async/context_poster.hpp"
#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "redis/cluster/master_node.hpp"
#include "redis/cluster/request.hpp"
#include "redis/cluster/request_lanes.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/cluster/wakeups.hpp"
#include "redis/protocol/redirection.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace leasehold::redis_store::cluster {

/// Sends each request to the node that serves its slot, and follows redirections.
///
/// **Target.** The node that serves the slot of the name, as far as is known. If a node has not
/// executed a request, it is sent again, to the node named in the reply or after a pause. The
/// reasons are: the slot is elsewhere (MOVED), it migrates (ASK, TRYAGAIN), or no node serves it
/// for now (CLUSTERDOWN). At the request's time limit it is answered as not executed.
///
/// **Order.** Requests for one name go to one node in the order of the calls. If one is redirected,
/// the later ones wait until it is answered. An acquire that was undone meanwhile is not sent
/// again: it would be executed after the release.
class request_router
{
public:
    struct user
    {
        std::function<void(master_node& which)> open; ///< The node is needed for the first time.
        /// A node reports which node serves a slot.
        std::function<void(const redirection& redirected, master_node& by)> learn;
        std::function<void()> want_map;
        std::function<void()> tidy; ///< A node that serves nothing has answered all requests.
        std::function<std::string(store_partition node)> server_of;
        std::function<void()> on_change; ///< `next_check` has changed.
    };

    request_router(const redis_config& settings, slot_map& map, detail::time_source& time,
                   fsm::random_source& random, grant_channels& grants, user callbacks);

    /// @param self This object; requests that nodes have keep it.
    void open(const std::shared_ptr<request_router>& self,
              const std::shared_ptr<detail::context_poster>& poster);
    /// Nothing is sent any more. Requests that nodes have are answered by them.
    void close() noexcept { open_ = false; }
    void refuse_all(); ///< Rejects the requests that are not sent.
    /// The context ends, and all requests with it.
    void forget_all() noexcept;

    void acquire(const acquire_request& request, store::acquire_handler handler);
    void renew(std::span<const renewal> renewals, store::renew_handler handler);
    void release(const release_request& request, store::release_handler handler);

    /// Whether everything that belongs to the name is in its slot.
    [[nodiscard]] bool is_served(std::string_view name) const;

    void on_down(const master_node& which);
    /// Sends the requests that wait here: a node or the map has changed.
    void retry();
    [[nodiscard]] bool waits_for(store_partition node) const;

    /// Does what is due at this time.
    void check(clock::time_point at);
    /// The time of the next `check`. The maximum: nothing waits here.
    [[nodiscard]] clock::time_point next_check() const;

private:
    [[nodiscard]] store_partition target(const request& one) const;
    void submit(const request_ptr& one);
    void advance(const std::string& name);
    void go(const request_ptr& one);
    void send(const request_ptr& one, master_node& to);
    template <class Reply>
    void answered(const request_ptr& one, error_code code, Reply reply);
    [[nodiscard]] bool redirect(const request_ptr& one, master_node& by,
                                const redirection& redirected);
    void refuse(request_ptr one, error_code code); // a copy: the caller's reference may go
    void finish(const request_ptr& one, error_code code, acquire_reply reply);
    void finish(const request_ptr& one, error_code code, release_reply reply);
    void finish(const request_ptr& one, error_code code, renew_reply reply);
    void finish_refused(const request_ptr& one, error_code code);
    void schedule_check();
    [[nodiscard]] clock::time_point now() const { return time_.now(); }

    const redis_config& settings_;
    slot_map& map_;
    detail::time_source& time_;
    fsm::random_source& random_;
    grant_channels& grants_;
    const user callbacks_;
    std::weak_ptr<request_router> self_;
    std::shared_ptr<detail::context_poster> poster_;
    bool open_ = false;
    request_lanes lanes_;
};

} // namespace leasehold::redis_store::cluster

#endif
