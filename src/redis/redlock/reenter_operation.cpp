#include "fsm/quorum/renewal_vote.hpp"
#include "redis/redlock/acquiring.hpp"
#include "redis/redlock/operations.hpp"

#include <utility>
#include <vector>

namespace leasehold::quorum {
namespace {

/// A majority keeps all other owners out, so a majority has to add the entry. Only then is the lock
/// renewed: a failed attempt must not extend the lock of a minority.
class reenter_operation final : public acquiring
{
public:
    reenter_operation(std::shared_ptr<quorum_state> of, const acquire_request& request,
                      store::acquire_handler done)
        : acquiring(std::move(of), request, std::move(done)),
          asked_(of_->reachable()),
          renewed_(of_->size)
    {}

    void start()
    {
        const auto self = self_ptr();
        of_->add(*this);
        of_->saw_lease(lease_);
        if (count(asked_) < of_->size.majority())
            return of_->post([self] { self->fail(errc::no_quorum); });
        wait_for_all();
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(asked_, i))
                continue;
            doubtful_ |= bit(i);
            ++outstanding_;
            of_->at(i).async_reenter({.name = name_,
                                      .owner = owner_,
                                      .entry = entry_,
                                      .lease = lease_,
                                      .budget = budget_},
                                     [self, i](error_code failed, reentered result) {
                                         self->answered(i, failed, result);
                                     });
        }
    }

private:
    using outcome = acquire_reply::outcome;

    std::shared_ptr<reenter_operation> self_ptr()
    {
        return std::static_pointer_cast<reenter_operation>(shared_from_this());
    }

    void wait_for_all()
    {
        pending_ = count(asked_);
        of_->schedule(*this, of_->now() + quorum_state::patience(lease_));
    }

    void answered(unsigned number, error_code failed, reentered result)
    {
        if (failed)
            failed_at(number, failed);
        count_reply(number, false, false);
        if (!done_)
            return;
        if (result != reentered::yes && !failed)
            doubtful_ &= ~bit(number);
        if (renews_)
            return;
        --pending_;
        if (failed) {
            answers_.failed(number, failed);
        }
        else {
            yes_ += result == reentered::yes ? 1 : 0;
            gone_ += result == reentered::gone ? 1 : 0;
            late_ += result == reentered::late ? 1 : 0;
            if (result != reentered::yes)
                answers_.failed(number, errc::not_owner);
        }
        decide();
    }

    void decide()
    {
        const unsigned majority = of_->size.majority();
        if (yes_ >= majority)
            return renew();
        if (yes_ + pending_ >= majority)
            return;
        if (of_->size.members - gone_ < majority)
            return undo({}, {.result = outcome::gone});
        // Members without a reply may still report that it is gone.
        if (pending_ > 0)
            return;
        if (late_ > 0 && late_ + yes_ >= majority)
            return undo({}, {.result = outcome::late});
        fail(answers_.error(*of_));
    }

    void renew()
    {
        renews_ = true;
        wait_for_all();
        const std::vector<upkeep> what{{{name_, owner_, lease_, entry_}, false}};
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(asked_, i))
                continue;
            ++outstanding_;
            of_->at(i).async_renew(
                what, {}, [self = self_ptr(), i](const std::vector<kept>& results) {
                    self->renewed(i, results.empty() ? kept::failed : results.front());
                });
        }
    }

    void renewed(unsigned number, kept result)
    {
        count_reply(number, result == kept::yes, result == kept::gone);
        if (!done_)
            return;
        --pending_;
        switch (result) {
        case kept::failed: answers_.failed(number, errc::outcome_unknown); break;
        case kept::yes: renewed_.renewed(); break;
        case kept::free:
        case kept::gone: renewed_.gone(); break;
        }
        decide_renewal();
    }

    void decide_renewal()
    {
        switch (renewed_.decide(pending_)) {
        case fsm::renewal_vote::result::open: return;
        case fsm::renewal_vote::result::renewed: return grant({});
        case fsm::renewal_vote::result::gone: return undo({}, {.result = outcome::gone});
        case fsm::renewal_vote::result::failed: return fail(answers_.error(*of_));
        }
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        pending_ = 0;
        if (!done_)
            return settle();
        if (renews_)
            return decide_renewal();
        decide();
    }

    void fail(error_code code)
    {
        acquire_reply reply;
        if (!of_->is_open())
            code = errc::store_unavailable;
        reply.details = answers_.explain(*of_, name_, yes_, "let the owner enter again");
        undo(code, std::move(reply));
    }

    void undo(error_code code, acquire_reply reply)
    {
        release_everywhere();
        complete(code, std::move(reply));
    }

    const mask asked_;
    unsigned pending_ = 0;
    unsigned yes_ = 0;
    unsigned gone_ = 0;
    unsigned late_ = 0;
    bool renews_ = false;
    fsm::renewal_vote renewed_;
};

} // namespace

void start_reenter(const std::shared_ptr<quorum_state>& of, const acquire_request& request,
                   store::acquire_handler done)
{
    std::make_shared<reenter_operation>(of, request, std::move(done))->start();
}

} // namespace leasehold::quorum
