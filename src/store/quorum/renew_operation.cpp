#include "base/mutant.hpp"
#include "fsm/keep_alive.hpp"
#include "fsm/renewal_vote.hpp"
#include "store/quorum/answers_of_members.hpp"
#include "store/quorum/operations.hpp"

#include <utility>
#include <vector>

namespace leasehold::quorum {
namespace {

class renew_operation final : public operation
{
public:
    renew_operation(std::shared_ptr<quorum_state> of, std::span<const renewal> asked,
                    store::renew_handler done)
        : of_(std::move(of)), done_(std::move(done)), began_(of_->now())
    {
        locks_.reserve(asked.size());
        for (const renewal& each : asked) {
            of_->saw_lease(each.lease);
            locks_.emplace_back(each, of_->size);
            shortest_ = std::min(shortest_, each.lease);
        }
    }

    void start()
    {
        of_->add(*this);
        const mask asked = of_->reachable();
        pending_ = count(asked);
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
            if (contains(asked, i))
                of_->at(i).async_renew(
                    all, {}, [self, i](const std::vector<kept>& said) { self->answered(i, said); });
        }
    }

private:
    struct lock
    {
        lock(const renewal& asked, const fsm::quorum_size& size)
            : name(asked.name),
              owner(asked.owner),
              entry(asked.entry),
              lease(asked.lease),
              vote(size)
        {}
        [[nodiscard]] renewal what() const noexcept { return {name, owner, lease, entry}; }

        std::string name;
        std::string owner;
        std::string entry;
        std::chrono::milliseconds lease;
        fsm::renewal_vote vote;
        mask free_at = 0;  ///< Members where nobody has it, or its owner without this entry.
        bool left = false; ///< It was released meanwhile.
    };

    void answered(unsigned number, const std::vector<kept>& said)
    {
        for (std::size_t i = 0; i < said.size() && i < locks_.size(); ++i) {
            switch (said[i]) {
            case kept::failed: failed_ |= bit(number); break;
            case kept::yes: locks_[i].vote.renewed(); break;
            case kept::free: locks_[i].free_at |= bit(number); [[fallthrough]];
            case kept::gone: locks_[i].vote.gone(); break;
            }
        }
        if (pending_ > 0)
            --pending_;
        create_at(number);
        decide();
    }

    void expired() override
    {
        const auto stays = shared_from_this();
        pending_ = 0;
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
            switch (each.vote.decide(pending_)) {
            case result::open: return;
            case result::renewed: results.push_back(renewal_result::renewed); break;
            case result::gone: results.push_back(renewal_result::gone); break;
            case result::failed: results.push_back(renewal_result::failed); break;
            }
            any = any || results.back() != renewal_result::failed;
        }
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
        for (unsigned i = 0; i < of_->size.members; ++i)
            create_at(i);
        std::move(std::exchange(done_, nullptr))(code, std::move(reply));
    }

    /// A majority has it, and this member has lost it, or never had it: it is told again, so that
    /// the lock outlives the next member that loses it.
    void create_at(unsigned number)
    {
        if (has(mutant::not_written_back))
            return;
        std::vector<upkeep> missing;
        const auto now = of_->now();
        for (lock& each : locks_) {
            const auto lease = clock::duration(each.lease);
            if (!contains(each.free_at, number) || each.left ||
                each.vote.decide(0) != fsm::renewal_vote::result::renewed ||
                now >= began_ + lease - fsm::drift_margin(lease))
                continue;
            each.free_at &= ~bit(number);
            missing.push_back({each.what(), true});
        }
        if (missing.empty() || !of_->is_reachable(number))
            return;
        const auto valid = clock::duration(shortest_) -
                           fsm::drift_margin(clock::duration(shortest_)) - (now - began_);
        of_->at(number).async_renew(
            missing,
            std::max(std::chrono::duration_cast<std::chrono::milliseconds>(valid),
                     std::chrono::milliseconds(1)),
            [stays = shared_from_this()](const std::vector<kept>&) {});
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
    unsigned pending_ = 0;
    mask failed_ = 0;
};

} // namespace

void start_renew(const std::shared_ptr<quorum_state>& of, std::span<const renewal> asked,
                 store::renew_handler done)
{
    std::make_shared<renew_operation>(of, asked, std::move(done))->start();
}

} // namespace leasehold::quorum
