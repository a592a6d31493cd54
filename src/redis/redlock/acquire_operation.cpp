#include "fsm/quorum/acquire_vote.hpp"
#include "redis/redlock/acquiring.hpp"
#include "redis/redlock/operations.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace leasehold::quorum {
namespace {

// The members' clocks would not keep up with more.
constexpr std::uint32_t most_fences = 200;

// A vote starts again if a member is in a later epoch.
constexpr unsigned most_votes = 4;

class acquire_operation final : public acquiring
{
public:
    acquire_operation(std::shared_ptr<quorum_state> of, const acquire_request& request,
                      store::acquire_handler done)
        : acquiring(std::move(of), request, std::move(done)),
          fences_(std::min(request.fences, most_fences)),
          floor_(request.fence_floor),
          asks_holder_(request.needs_holder)
    {}

    void start()
    {
        of_->add(*this);
        of_->saw_lease(lease_);
        const mask members = of_->granting();
        if (count(members) < of_->size.grants)
            return of_->post([self = self_ptr()] { self->fail(); });
        vote(members);
    }

private:
    using answer = fsm::acquire_vote::answer;
    using outcome = ballot_reply::outcome;

    std::shared_ptr<acquire_operation> self_ptr()
    {
        return std::static_pointer_cast<acquire_operation>(shared_from_this());
    }

    void vote(mask members)
    {
        ++votes_;
        epoch_ = of_->epoch();
        later_epoch_ = false;
        late_ = 0;
        held_.clear();
        answers_ = {};
        vote_.emplace(of_->size, std::max(of_->next_fence(), floor_ + 1), fences_);
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(members, i))
                vote_->ask(i);
        }
        limit_ = of_->now() + quorum_state::patience(lease_);
        of_->schedule(*this, limit_);
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(members, i))
                ask(i, false);
        }
    }

    void ask(unsigned number, bool only_ours)
    {
        if (!only_ours)
            doubtful_ |= bit(number);
        ++outstanding_;
        const auto left = budget_ - std::chrono::duration_cast<std::chrono::milliseconds>(
                                        of_->now() - began_);
        of_->at(number).async_vote(
            {.name = name_,
             .owner = owner_,
             .lease = lease_,
             .first_fence = vote_->offer(),
             .fences = fences_,
             .epoch = epoch_,
             .budget = left,
             .only_ours = only_ours,
             .needs_holder = asks_holder_},
            [self = self_ptr(), number, vote = votes_,
             round = vote_->round()](error_code failed, const ballot_reply& reply) {
                self->answered(number, vote, round, failed, reply);
            });
    }

    void answered(unsigned number, unsigned vote, unsigned round, error_code failed,
                  const ballot_reply& reply)
    {
        of_->saw(reply.largest);
        if (failed)
            failed_at(number, failed);
        count_reply(number,
                    !failed &&
                        (reply.result == outcome::accepted || reply.result == outcome::outbid),
                    !failed && reply.result == outcome::held);
        if (!failed && reply.result == outcome::blank)
            of_->on_blank_member(number);
        if (!failed && reply.result == outcome::silent)
            of_->on_silent(number, reply.remaining);
        if (!failed && reply.result == outcome::older_epoch)
            of_->saw_epoch(reply.epoch);
        if (!done_ || vote != votes_)
            return;
        perform(vote_->answered(number, round, read(number, round, failed, reply), reply.largest));
        if (done_ && vote == votes_ && vote_->lingers()) {
            // Members that answer at all do so soon.
            const auto now = of_->now();
            limit_ = std::min(limit_, now + std::max<clock::duration>(
                                                now - began_, std::chrono::milliseconds(1)));
            of_->schedule(*this, limit_);
        }
    }

    answer read(unsigned number, unsigned round, error_code failed, const ballot_reply& reply)
    {
        if (failed) {
            answers_.failed(number, failed, words_of(reply.details));
            const bool executed = failed == errc::outcome_unknown;
            if (!executed)
                clear(number, round);
            return executed ? answer::unknown : answer::refused;
        }
        switch (reply.result) {
        case outcome::accepted: return answer::accepted;
        case outcome::outbid: return answer::outbid;
        case outcome::held:
            clear(number, round);
            held_.push_back(reply.remaining);
            if (reply.details)
                holder_ = reply.details;
            answers_.failed(number, errc::held);
            return answer::held;
        case outcome::late:
            ++late_;
            answers_.failed(number, errc::store_refused, "the request came too late");
            break;
        case outcome::blank:
            answers_.failed(number, errc::store_refused, "has forgotten, and is no member");
            break;
        case outcome::silent:
            answers_.failed(number, errc::store_refused,
                            "waits until what it may have forgotten is over");
            break;
        case outcome::older_epoch:
            later_epoch_ = true;
            answers_.failed(number, errc::store_refused, "is in a later epoch");
            break;
        case outcome::too_far:
            answers_.failed(number, errc::store_refused, "its clock is a day behind");
            break;
        }
        clear(number, round);
        return answer::refused;
    }

    /// The member did not take the lock, and no request to it is outstanding.
    void clear(unsigned number, unsigned round) noexcept
    {
        if (round == 1 && votes_ == 1)
            doubtful_ &= ~bit(number);
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        if (done_)
            perform(vote_->late());
        else
            settle();
    }

    [[nodiscard]] bool in_time() const noexcept { return of_->now() < until(); }

    void perform(fsm::acquire_vote::action next)
    {
        switch (next) {
        case fsm::acquire_vote::action::wait: return;
        case fsm::acquire_vote::action::granted: return in_time() ? succeed() : fail();
        case fsm::acquire_vote::action::failed: return fail();
        case fsm::acquire_vote::action::raise: break;
        }
        // The grants have expired.
        if (!in_time())
            return fail();
        limit_ = of_->now() + quorum_state::patience(lease_);
        of_->schedule(*this, limit_);
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (vote_->is_asked(i))
                ask(i, true);
        }
    }

    void succeed()
    {
        acquire_reply reply;
        reply.first_fence = vote_->offer();
        reply.fences = fences_;
        of_->saw(reply.first_fence + fences_ - 1);
        grant(std::move(reply));
    }

    void fail()
    {
        if (!done_)
            return;
        const bool again = later_epoch_ && votes_ < most_votes && of_->epoch() > epoch_ &&
                           of_->is_open() && of_->now() < began_ + clock::duration(budget_);
        const mask members = of_->granting();
        if (again && count(members) >= of_->size.grants)
            return vote(members);
        release_everywhere();
        acquire_reply reply;
        if (vote_ && vote_->is_held()) {
            reply.result = acquire_reply::outcome::held;
            reply.remaining = remaining();
            reply.details = holder_;
            return complete({}, std::move(reply));
        }
        if (vote_ && late_ > 0 && vote_->could_have(late_)) {
            reply.result = acquire_reply::outcome::late;
            return complete({}, std::move(reply));
        }
        const error_code code = of_->is_open() ? answers_.error(*of_)
                                               : error_code(errc::store_unavailable);
        reply.details = answers_.explain(*of_, name_, vote_ ? vote_->granted() : 0, "granted it");
        complete(code, std::move(reply));
    }

    /// The time until enough members are free, if their locks are not renewed.
    [[nodiscard]] std::chrono::milliseconds remaining()
    {
        const auto later = [](std::chrono::milliseconds a, std::chrono::milliseconds b) {
            const bool never = a.count() < 0;
            return never || b.count() < 0 ? !never && b.count() < 0 : a < b;
        };
        std::sort(held_.begin(), held_.end(), later);
        const unsigned missing = of_->size.grants - std::min(of_->size.grants, vote_->granted());
        return held_[std::clamp<std::size_t>(missing, 1, held_.size()) - 1];
    }

    const std::uint32_t fences_;
    const std::uint64_t floor_;
    const bool asks_holder_;
    clock::time_point limit_;
    std::optional<fsm::acquire_vote> vote_;
    std::uint64_t epoch_ = 0;
    unsigned votes_ = 0;
    bool later_epoch_ = false;
    unsigned late_ = 0;
    std::vector<std::chrono::milliseconds> held_;
    details_ptr holder_;
};

} // namespace

void start_acquire(const std::shared_ptr<quorum_state>& of, const acquire_request& request,
                   store::acquire_handler done)
{
    std::make_shared<acquire_operation>(of, request, std::move(done))->start();
}

} // namespace leasehold::quorum
