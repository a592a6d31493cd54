#ifndef LEASEHOLD_TEST_SIM_SESSION_LOCK_SERVICE_HPP
#define LEASEHOLD_TEST_SIM_SESSION_LOCK_SERVICE_HPP

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>
#include <leasehold/testing/world.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test::sessions {

using session_id = std::uint64_t;

/// An owner of a session, at a name.
struct placed_owner
{
    std::string name;
    std::string owner;

    auto operator<=>(const placed_owner&) const = default;
};

/// The server: sessions that end without a renewal, and for each name a queue of their owners, as
/// ZooKeeper and etcd have them. The first owner holds the lock. Requests are executed at once.
class lock_service
{
public:
    /// Receives what the service sends to the connection of a session.
    struct client_end
    {
        virtual void first(const placed_owner& who) = 0;   ///< It has the lock now.
        virtual void removed(const placed_owner& who) = 0; ///< An operator has removed it.
        virtual void ended() = 0;                          ///< The session has ended.
        virtual void replaced() = 0;                       ///< The session has another connection.

    protected:
        ~client_end() = default;
    };

    static constexpr std::uint32_t fences_of_a_place = 1024;

    struct place
    {
        session_id session;
        std::string owner;
        std::uint64_t revision;          ///< Of its creation.
        clock::time_point first_since{}; ///< The holder: since when. Else zero.
        bool confirmed = false;          ///< The holder has asked since then.
        bool reentered = true;           ///< The first acquire is not released.
        std::set<std::string> more{};    ///< The reentrant acquisitions.
    };

    lock_service(testing::world& in, clock::duration lifetime) : world_(in), lifetime_(lifetime) {}

    /// Continues the session, or begins another one if it has ended.
    session_id connect(session_id known, client_end& end);
    /// The session has no connection any more, unless it has another one.
    void disconnect(session_id session, const client_end& end);
    void end(session_id session);
    [[nodiscard]] bool lives(session_id session) const { return sessions_.contains(session); }
    /// Also renews the session, as each request does.
    void renew(session_id session);
    [[nodiscard]] std::vector<placed_owner> places_of(session_id session) const;

    acquire_reply acquire(session_id by, const acquire_request& request);
    release_reply release(session_id by, const release_request& request);
    [[nodiscard]] renewal_result check(session_id by, const renewal& lock) const;

    /// An operator removes the holder. Returns the revision of its place, 0 if there is none.
    std::uint64_t remove_holder(std::string_view name);

    [[nodiscard]] clock::duration lifetime() const noexcept { return lifetime_; }
    [[nodiscard]] const std::deque<place>* queue(std::string_view name) const;
    [[nodiscard]] bool empty() const noexcept { return queues_.empty(); }

    clock::time_point stalled_until{}; ///< Nothing is read before.

private:
    struct session_state
    {
        clock::time_point ends{};
        client_end* connection = nullptr;
    };
    using queue_of = std::deque<place>;
    using queues = std::map<std::string, queue_of, std::less<>>;

    static std::deque<place>::iterator find(queue_of& in, session_id by, std::string_view owner);
    static acquire_reply granted(place& to, std::uint32_t fences);
    acquire_reply reenter(session_id by, const acquire_request& request);
    void watch_end(session_id session);
    void erase(queues::iterator at, queue_of::iterator which);

    testing::world& world_;
    const clock::duration lifetime_;
    std::map<session_id, session_state> sessions_;
    queues queues_;
    session_id last_session_ = 0;
    std::uint64_t revision_ = 0;
};

} // namespace leasehold::test::sessions

#endif
