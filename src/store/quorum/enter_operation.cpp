#include "store/quorum/acquiring.hpp"
#include "store/quorum/operations.hpp"

#include <utility>

namespace leasehold::quorum {
namespace {

class enter_operation final : public acquiring
{
public:
    enter_operation(std::shared_ptr<quorum_state> of, const acquire_request& asked,
                    store::acquire_handler done)
        : acquiring(std::move(of), asked, std::move(done))
    {}

    void start()
    {
        const auto self = std::static_pointer_cast<enter_operation>(shared_from_this());
        of_->add(*this);
        of_->saw_lease(lease_);
        const mask asked = of_->reachable();
        pending_ = count(asked);
        if (pending_ < of_->size.grants)
            return of_->post([self] { self->fail(errc::no_quorum); });
        of_->schedule(*this, of_->now() + quorum_state::patience(lease_));
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(asked, i))
                continue;
            doubtful_ |= bit(i);
            of_->at(i).async_enter(
                {.name = name_,
                 .owner = owner_,
                 .entry = entry_,
                 .lease = lease_,
                 .budget = budget_},
                [self, i](error_code failed, entered said) { self->answered(i, failed, said); });
        }
    }

private:
    void answered(unsigned number, error_code failed, entered said)
    {
        if (!done_)
            return;
        --pending_;
        if (failed) {
            answers_.failed(number, failed);
        }
        else {
            yes_ += said == entered::yes ? 1 : 0;
            gone_ += said == entered::gone ? 1 : 0;
            late_ += said == entered::late ? 1 : 0;
            if (said != entered::yes) {
                doubtful_ &= ~bit(number);
                answers_.failed(number, errc::not_owner);
            }
        }
        decide();
    }

    void decide()
    {
        using outcome = acquire_reply::outcome;
        if (yes_ >= of_->size.grants)
            return complete({}, {.result = outcome::granted});
        if (yes_ + pending_ >= of_->size.grants)
            return;
        if (of_->size.members - gone_ < of_->size.majority())
            return undo({}, {.result = outcome::gone});
        // Those who are asked still may say that it is gone.
        if (pending_ > 0)
            return;
        if (late_ > 0 && late_ + yes_ >= of_->size.grants)
            return undo({}, {.result = outcome::late});
        fail(answers_.error(*of_));
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        pending_ = 0;
        if (done_)
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
        give_back();
        complete(code, std::move(reply));
    }

    unsigned pending_ = 0;
    unsigned yes_ = 0;
    unsigned gone_ = 0;
    unsigned late_ = 0;
};

} // namespace

void start_enter(const std::shared_ptr<quorum_state>& of, const acquire_request& asked,
                 store::acquire_handler done)
{
    std::make_shared<enter_operation>(of, asked, std::move(done))->start();
}

} // namespace leasehold::quorum
