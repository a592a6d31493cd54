#include "fsm/lease/keep_alive.hpp"
#include "fsm/quorum/renewal_vote.hpp"
#include "redis/redlock/answers_of_members.hpp"
#include "redis/redlock/operations.hpp"

#include <utility>
#include <vector>

namespace leasehold::quorum {
namespace {

class renew_operation final : public operation
{
public:
    renew_operation(std::shared_ptr<quorum_state> of, std::span<const renewal> renewals,
                    store::renew_handler done)
        : of_(std::move(of)), done_(std::move(done)), began_(of_->now())
    {
        locks_.reserve(renewals.size());
        for (const renewal& each : renewals) {
            of_->saw_lease(each.lease);
            locks_.emplace_back(each, of_->size);
            locks_.back().partial = of_->partials().find(each.owner, each.entry);
            shortest_ = std::min(shortest_, each.lease);
        }
    }

    void start()
    {
        of_->add(*this);
        const mask members = of_->reachable();
        pending_ = count(members);
        const auto self = std::static_pointer_cast<renew_operation>(shared_from_this());
        if (pending_ < of_->size.majority() || locks_.empty()) {
            pending_ = 0;
            return of_->post([self] { self->decide(); });
        }
        of_->schedule(*this, began_ + quorum_state::patience(shortest_));
        const std::vector<upkeep> all = [&] {
            std::vector<upkeep> written;
            written.reserve(locks_.size());
            for (const lock& each : locks_)
                written.push_back({each.what(), false});
            return written;
        }();
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(members, i))
                of_->at(i).async_renew(all, {}, [self, i](const std::vector<kept>& results) {
                    self->answered(i, results);
                });
        }
    }

private:
    struct lock
    {
        lock(const renewal& request, const fsm::quorum_size& size)
            : name(request.name),
              owner(request.owner),
              entry(request.entry),
              lease(request.lease),
              vote(size)
        {}
        [[nodiscard]] renewal what() const noexcept { return {name, owner, lease, entry}; }

        std::string name;
        std::string owner;
        std::string entry;
        std::chrono::milliseconds lease;
        fsm::renewal_vote vote;
        partial_locks::pointer partial; ///< Null: no member is known to lack it.
        mask has = 0;                   ///< Members that have renewed it.
        mask free_at = 0;  ///< Members where it is free, or the owner lacks this entry.
        bool left = false; ///< It was released meanwhile.
    };

    void answered(unsigned number, const std::vector<kept>& results)
    {
        for (std::size_t i = 0; i < results.size() && i < locks_.size(); ++i)
            take(locks_[i], number, results[i]);
        if (settled_)
            return create_late(number);
        if (pending_ > 0 && --pending_ == 0)
            settle();
        decide();
    }

    /// The member answered after the operation stopped waiting.
    void create_late(unsigned number)
    {
        for (const lock& each : locks_) {
            if (contains(each.free_at, number) && each.partial)
                of_->create_at(number, each.partial, {});
        }
    }

    void take(lock& each, unsigned number, kept result)
    {
        switch (result) {
        case kept::failed: failed_ |= bit(number); return;
        case kept::yes:
            each.vote.renewed();
            each.has |= bit(number);
            break;
        case kept::free: each.free_at |= bit(number); [[fallthrough]];
        case kept::gone: each.vote.gone(); break;
        }
        if (each.partial)
            note(each, number);
    }

    void note(lock& each, unsigned number) const
    {
        const clock::duration lease = each.lease;
        if (contains(each.has, number))
            each.partial->at.confirmed(number, began_ + lease - fsm::drift_margin(lease));
        else
            each.partial->at.lacks(number);
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        creating_ = 0;
        if (std::exchange(pending_, 0) > 0)
            settle();
        decide();
    }

    /// Called when no further reply is awaited. Creates the lock at members that lost it or never
    /// had it, so that it survives the next failure of a member.
    void settle()
    {
        settled_ = true;
        for (lock& each : locks_) {
            if (each.left || (each.has == 0 && !each.partial))
                continue;
            if (count(each.has) == of_->size.members) {
                if (each.partial)
                    of_->partials().forget(*each.partial);
                continue;
            }
            if (!each.partial) {
                each.partial = of_->partials().make(each.what(), of_->size, of_->now());
                for (unsigned i = 0; i < of_->size.members; ++i) {
                    if (contains(each.has, i))
                        note(each, i);
                }
            }
            each.partial->lease = each.lease;
            create(each);
        }
        if (creating_ > 0)
            of_->schedule(*this, of_->now() + quorum_state::patience(shortest_));
    }

    void create(lock& each)
    {
        // The reply has to wait if the members at which it is created are needed for a majority.
        const bool counts = each.vote.decide(0) == fsm::renewal_vote::result::failed;
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(each.free_at, i))
                continue;
            if (!counts) {
                of_->create_at(i, each.partial, {});
                continue;
            }
            const auto self = std::static_pointer_cast<renew_operation>(shared_from_this());
            if (of_->create_at(i, each.partial,
                               [self, &each](bool created) { self->on_created(each, created); }))
                ++creating_;
        }
    }

    void on_created(lock& each, bool created)
    {
        if (created)
            each.vote.created();
        if (creating_ > 0)
            --creating_;
        decide();
    }

    void decide()
    {
        using result = fsm::renewal_vote::result;
        if (!done_)
            return;
        std::vector<renewal_result> results;
        results.reserve(locks_.size());
        bool any = locks_.empty();
        for (const lock& each : locks_) {
            switch (each.vote.decide(pending_ + creating_)) {
            case result::open: return;
            case result::renewed: results.push_back(renewal_result::renewed); break;
            case result::gone: results.push_back(renewal_result::gone); break;
            case result::failed: results.push_back(renewal_result::failed); break;
            }
            any = any || results.back() != renewal_result::failed;
        }
        if (pending_ == 0)
            detail::timer_queue::cancel(*this);
        renew_reply reply(std::move(results));
        error_code code;
        if (!any) {
            code = of_->is_open() ? errc::no_quorum : errc::store_unavailable;
            answers_of_members answers;
            for (unsigned i = 0; i < of_->size.members; ++i) {
                if (contains(failed_, i))
                    answers.failed(i, errc::outcome_unknown);
            }
            reply.details = answers.explain(*of_, locks_.front().name,
                                            count(of_->reachable() & ~failed_), "answered");
        }
        std::move(std::exchange(done_, nullptr))(code, std::move(reply));
    }

    void on_leave(const release_request& leaving) override
    {
        for (lock& each : locks_) {
            if (each.owner == leaving.owner && each.entry == leaving.entry &&
                each.name == leaving.name)
                each.left = true;
        }
    }

    const std::shared_ptr<quorum_state> of_;
    store::renew_handler done_;
    const clock::time_point began_;
    std::vector<lock> locks_;
    std::chrono::milliseconds shortest_ = std::chrono::hours(24 * 365);
    unsigned pending_ = 0;  ///< Members that may still answer.
    unsigned creating_ = 0; ///< Requests to create a lock that may still be answered.
    bool settled_ = false;
    mask failed_ = 0;
};

} // namespace

void start_renew(const std::shared_ptr<quorum_state>& of, std::span<const renewal> renewals,
                 store::renew_handler done)
{
    std::make_shared<renew_operation>(of, renewals, std::move(done))->start();
}

} // namespace leasehold::quorum
