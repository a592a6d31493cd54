#include "fsm/quorum/release_vote.hpp"
#include "redis/redlock/answers_of_members.hpp"
#include "redis/redlock/operations.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::quorum {
namespace {

class release_operation final : public operation
{
public:
    release_operation(std::shared_ptr<quorum_state> of, const release_request& request,
                      store::release_handler done)
        : of_(std::move(of)),
          name_(request.name),
          owner_(request.owner),
          entry_(request.entry),
          began_(of_->now()),
          done_(std::move(done)),
          vote_(of_->size)
    {}

    void start()
    {
        const auto self = std::static_pointer_cast<release_operation>(shared_from_this());
        const mask members = of_->reachable();
        pending_ = count(members);
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(members, i))
                of_->leave_later(i, {request(), of_->now()});
        }
        if (pending_ == 0)
            return of_->post([self] { self->decide(); });
        of_->schedule(*this, of_->now() + of_->patience());
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(members, i))
                of_->release_at(i, request(), false,
                                [self, i](error_code failed, const release_answer& answer) {
                                    self->answered(i, failed, answer);
                                });
        }
    }

private:
    [[nodiscard]] release_request request() const noexcept
    {
        return {.name = name_, .owner = owner_, .entry = entry_};
    }

    void answered(unsigned number, error_code failed, const release_answer& answer)
    {
        if (failed) {
            if (failed != condition::bad_request)
                of_->leave_later(number, {request(), of_->now()});
            answers_.failed(number, failed);
        }
        else {
            of_->left(number, request(), began_);
            take(answer);
        }
        if (pending_ > 0)
            --pending_;
        decide();
    }

    void take(const release_answer& answer)
    {
        using outcome = release_reply::outcome;
        if (answer.result == outcome::freed) {
            vote_.freed();
            of_->saw(answer.largest);
            receivers_ = std::max(receivers_, answer.receivers);
            known_ = known_ && answer.receivers >= 0;
        }
        else if (answer.result == outcome::still_held) {
            vote_.left();
        }
        else {
            vote_.not_owner();
        }
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        pending_ = 0;
        decide();
    }

    void decide()
    {
        using result = fsm::release_vote::result;
        if (!done_)
            return;
        release_reply reply;
        error_code code;
        switch (vote_.decide(pending_)) {
        case result::open: return;
        case result::freed:
            reply.result = release_reply::outcome::freed;
            reply.receivers = static_cast<std::uint64_t>(receivers_);
            reply.receivers_known = known_;
            break;
        case result::left: reply.result = release_reply::outcome::still_held; break;
        case result::not_owner: reply.result = release_reply::outcome::not_owner; break;
        case result::failed:
            code = failure();
            reply.details = answers_.explain(*of_, name_, vote_.answers(), "answered");
        }
        detail::timer_queue::cancel(*this);
        std::move(std::exchange(done_, nullptr))(code, std::move(reply));
    }

    /// Not `store_unavailable` while members get the release when they are back, or may have
    /// executed it before: the caller would take it for not executed, and trust the "not the owner"
    /// of its retry.
    [[nodiscard]] error_code failure() const
    {
        if (!of_->is_open())
            return errc::store_unavailable;
        return of_->reachable() != 0 ? answers_.error(*of_) : errc::outcome_unknown;
    }

    const std::shared_ptr<quorum_state> of_;
    const std::string name_;
    const std::string owner_;
    const std::string entry_;
    const clock::time_point began_;
    store::release_handler done_;
    fsm::release_vote vote_;
    unsigned pending_ = 0;
    std::int64_t receivers_ = 0;
    bool known_ = true;
    answers_of_members answers_;
};

} // namespace

void start_release(const std::shared_ptr<quorum_state>& of, const release_request& request,
                   store::release_handler done)
{
    of->on_leave(request);
    std::make_shared<release_operation>(of, request, std::move(done))->start();
}

} // namespace leasehold::quorum
