#ifndef LEASEHOLD_SRC_MEMORY_MEMORY_SPACE_STATE_HPP
#define LEASEHOLD_SRC_MEMORY_MEMORY_SPACE_STATE_HPP

#include "memory/distinct_times.hpp"
#include "memory/lock_table.hpp"

#include <leasehold/memory.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace leasehold {
namespace memory {

/// Notified when a name is released, or when the lock is granted to one of its owners.
class watcher
{
public:
    virtual void on_wakeup(std::string_view name) = 0;
    virtual void on_grant(std::string_view name, std::string_view owner) = 0;

protected:
    ~watcher() = default;
};

} // namespace memory

/// The locks of a space and their watchers. Every member function is thread-safe.
struct LEASEHOLD_HIDDEN memory_space::state
{
public:
    explicit state(std::chrono::milliseconds fence_retention) : table_(fence_retention) {}

    /// Extends the retention for later grants; never shortens it.
    void keep_fences(std::chrono::milliseconds at_least);
    std::chrono::milliseconds retention() const;

    /// Adds a client. Notifications of its grants are posted to `strand`.
    memory::client_id join(const std::shared_ptr<memory::watcher>& watcher,
                           const asio::any_io_executor& strand);

    /// Removes the client: after this nothing is posted for it any more, as after `unwatch`.
    void part(memory::client_id gone) noexcept;

    acquire_reply acquire(const acquire_request& request, memory::client_id by);
    std::vector<renewal_result> renew(std::span<const renewal> renewals);
    release_reply release(const release_request& request, memory::client_id by);

    bool erase(std::string_view name);
    void clear();
    std::size_t size() const;

    /// Wake-ups for `name` are posted to `strand` from now on, and the first one at once. False if
    /// it was watched already.
    bool watch(std::string_view name, const std::shared_ptr<memory::watcher>& watcher,
               const asio::any_io_executor& strand);

    /// After this nothing is posted any more for that watcher and name; an earlier post may still
    /// arrive.
    void unwatch(std::string_view name, const memory::watcher* watcher);

private:
    struct subscription
    {
        const memory::watcher* id;
        std::weak_ptr<memory::watcher> target;
        asio::any_io_executor strand;
    };

    struct client
    {
        std::weak_ptr<memory::watcher> target;
        asio::any_io_executor strand;
    };

    static std::chrono::microseconds ticks();
    static std::chrono::microseconds latest(std::chrono::milliseconds budget);
    memory::instant now() const;
    void notify(const memory::granted_owner& granted, std::string_view name);
    static void post_wakeup(const subscription& to, std::string_view name);

    mutable std::mutex mutex_;
    memory::lock_table table_;
    mutable memory::distinct_times wall_;
    memory::name_map<std::vector<subscription>> watched_;
    boost::unordered_flat_map<memory::client_id, client> clients_;
};

} // namespace leasehold

#endif
