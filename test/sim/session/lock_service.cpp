#include "sim/session/lock_service.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace leasehold::test::sessions {

using outcome = acquire_reply::outcome;

session_id lock_service::connect(session_id known, client_end& end)
{
    auto found = sessions_.find(known);
    if (found == sessions_.end()) {
        found = sessions_.try_emplace(++last_session_).first;
        renew(found->first);
        watch_end(found->first);
    }
    else if (found->second.connection != nullptr) {
        found->second.connection->replaced();
    }
    renew(found->first);
    found->second.connection = &end;
    return found->first;
}

void lock_service::disconnect(session_id session, const client_end& end)
{
    const auto found = sessions_.find(session);
    if (found != sessions_.end() && found->second.connection == &end)
        found->second.connection = nullptr;
}

void lock_service::end(session_id session)
{
    const auto found = sessions_.find(session);
    if (found == sessions_.end())
        return;
    client_end* const told = found->second.connection;
    sessions_.erase(found);
    for (auto at = queues_.begin(); at != queues_.end();) {
        const auto next = std::next(at);
        queue_of& all = at->second;
        // The holder leaves last, so that no other owner of the session gets the lock.
        for (auto i = all.size(); i-- > 1;)
            if (all[i].session == session)
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        if (all.front().session == session)
            erase(at, all.begin());
        at = next;
    }
    if (told != nullptr)
        told->ended();
}

void lock_service::renew(session_id session)
{
    if (const auto found = sessions_.find(session); found != sessions_.end())
        found->second.ends = world_.now() + lifetime_;
}

void lock_service::watch_end(session_id session)
{
    world_.at(sessions_.at(session).ends, [this, session] {
        const auto found = sessions_.find(session);
        if (found == sessions_.end())
            return;
        if (found->second.ends <= world_.now())
            end(session);
        else
            watch_end(session);
    });
}

std::vector<placed_owner> lock_service::places_of(session_id session) const
{
    std::vector<placed_owner> all;
    for (const auto& [name, queue] : queues_)
        for (const place& each : queue)
            if (each.session == session)
                all.push_back({name, each.owner});
    return all;
}

const std::deque<lock_service::place>* lock_service::queue(std::string_view name) const
{
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : &found->second;
}

std::deque<lock_service::place>::iterator lock_service::find(queue_of& in, session_id by,
                                                             std::string_view owner)
{
    return std::find_if(in.begin(), in.end(), [&](const place& each) {
        return each.session == by && each.owner == owner;
    });
}

acquire_reply lock_service::granted(place& to, std::uint32_t fences)
{
    to.confirmed = true;
    acquire_reply reply;
    reply.result = outcome::granted;
    reply.first_fence = to.revision * fences_of_a_place;
    reply.fences = std::min(fences, fences_of_a_place);
    return reply;
}

acquire_reply lock_service::reenter(session_id by, const acquire_request& request)
{
    acquire_reply reply;
    reply.result = outcome::gone;
    const auto at = queues_.find(request.name);
    if (at == queues_.end())
        return reply;
    const auto found = find(at->second, by, request.owner);
    if (found == at->second.begin()) {
        found->more.emplace(request.entry);
        reply.result = outcome::granted;
    }
    return reply;
}

acquire_reply lock_service::acquire(session_id by, const acquire_request& request)
{
    if (!request.entry.empty())
        return reenter(by, request);
    acquire_reply reply;
    reply.remaining = std::chrono::milliseconds(-1);
    auto at = queues_.find(request.name);
    if (at != queues_.end()) {
        queue_of& all = at->second;
        auto found = find(all, by, request.owner);
        if (found != all.end() && found == all.begin())
            return granted(*found, request.fences);
        if (!request.waits) {
            if (found != all.end())
                all.erase(found);
            return reply;
        }
        if (found == all.end()) {
            all.push_back({by, std::string(request.owner), ++revision_});
            found = std::prev(all.end());
        }
        reply.queued = true;
        reply.position = static_cast<std::uint32_t>(found - all.begin());
        return reply;
    }
    at = queues_.try_emplace(std::string(request.name)).first;
    at->second.push_back({by, std::string(request.owner), ++revision_});
    return granted(at->second.front(), request.fences);
}

release_reply lock_service::release(session_id by, const release_request& request)
{
    using released = release_reply::outcome;
    release_reply reply;
    const auto at = queues_.find(request.name);
    if (at == queues_.end())
        return reply;
    queue_of& all = at->second;
    const auto found = find(all, by, request.owner);
    if (found == all.end())
        return reply;
    const bool known = request.entry.empty() ? std::exchange(found->reentered, false)
                                             : found->more.erase(std::string(request.entry)) == 1;
    if (!known)
        return reply;
    if (found->reentered || !found->more.empty()) {
        reply.result = released::still_held;
        return reply;
    }
    if (found != all.begin()) {
        all.erase(found);
        reply.result = released::left_queue;
        return reply;
    }
    const std::uint64_t before = revision_;
    if (request.next != nullptr)
        all.push_back({by, std::string(request.next->owner), ++revision_});
    const auto others = all.size() - 1 - (revision_ - before);
    reply.result = others == 0 ? released::freed : released::granted_next;
    const std::string name = at->first;
    erase(at, all.begin());
    if (request.next != nullptr)
        reply.next = acquire(by, *request.next);
    return reply;
}

renewal_result lock_service::check(session_id by, const renewal& lock) const
{
    const auto at = queues_.find(lock.name);
    if (at == queues_.end())
        return renewal_result::gone;
    const place& holder = at->second.front();
    const bool has_it = holder.session == by && holder.owner == lock.owner &&
                        (lock.entry.empty() ? holder.reentered
                                            : holder.more.contains(std::string(lock.entry)));
    return has_it ? renewal_result::renewed : renewal_result::gone;
}

std::uint64_t lock_service::remove_holder(std::string_view name)
{
    const auto at = queues_.find(name);
    if (at == queues_.end())
        return 0;
    const place holder = at->second.front();
    const placed_owner who{at->first, holder.owner};
    erase(at, at->second.begin());
    if (const auto found = sessions_.find(holder.session);
        found != sessions_.end() && found->second.connection != nullptr)
        found->second.connection->removed(who);
    return holder.revision;
}

void lock_service::erase(queues::iterator at, queue_of::iterator which)
{
    const bool held = which == at->second.begin();
    at->second.erase(which);
    if (at->second.empty()) {
        queues_.erase(at);
        return;
    }
    place& next = at->second.front();
    if (held)
        next.first_since = world_.now();
    const auto found = sessions_.find(next.session);
    if (held && found != sessions_.end() && found->second.connection != nullptr)
        found->second.connection->first({at->first, next.owner});
}

} // namespace leasehold::test::sessions
