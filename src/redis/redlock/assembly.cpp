#include "redis/redlock/assembly.hpp"

#include <vector>

namespace leasehold::quorum {
namespace {

// Members that do not answer within this time are left out.
constexpr clock::duration assembly_limit = std::chrono::seconds(1);

// The number of immediate retries.
constexpr unsigned most_tries = 5;

} // namespace

/// `ask(number)` sends the request, or returns false.
template <class Ask>
void quorum_state::assembly::ask_all(Ask ask)
{
    pending_ = of_->reachable();
    const mask all = pending_;
    for (unsigned i = 0; i < of_->size.members; ++i) {
        if (contains(all, i) && !ask(i))
            pending_ &= ~bit(i);
    }
    if (pending_ == 0)
        return of_->post([self = shared_from_this(), this, at = phase_] {
            if (phase_ == at && pending_ == 0)
                go_on();
        });
    of_->schedule(*this, of_->now() + assembly_limit);
}

void quorum_state::assembly::answered(unsigned number, phase when)
{
    if (when != phase_ || !contains(pending_, number))
        return;
    pending_ &= ~bit(number);
    if (pending_ == 0)
        go_on();
}

void quorum_state::assembly::expired()
{
    const auto stays = shared_from_this();
    pending_ = 0;
    go_on();
}

void quorum_state::assembly::start()
{
    const auto self = shared_from_this();
    ask_all([&](unsigned i) {
        of_->at(i).async_inspect(
            of_->draw(), [this, self, i, connection = of_->members_[i].connection](
                             error_code failed, const inspect_answer& answer) {
                known& each = of_->members_[i];
                if (!failed && each.reachable && connection == each.connection &&
                    phase_ == phase::inspecting)
                    of_->take_inspection(i, answer);
                answered(i, phase::inspecting);
            });
        return true;
    });
}

void quorum_state::assembly::go_on()
{
    detail::timer_queue::cancel(*this);
    if (!of_->is_open())
        return;
    switch (phase_) {
    case phase::inspecting: return ask_more();
    case phase::asking: return write();
    case phase::seeding:
    case phase::over: break;
    }
    phase_ = phase::over;
    of_->assembling_.reset();
    bool blank_servers = false;
    for (const known& each : of_->members_)
        blank_servers = blank_servers || (each.reachable && !each.is_member);
    // Usually another client is about to make it a member, which one of the next queries shows.
    of_->tries_ = blank_servers ? of_->tries_ + 1 : 0;
    of_->stuck_ = blank_servers && of_->tries_ > most_tries;
    if (of_->stuck_)
        of_->assemble_later(fsm::pick(of_->random_, again_floor, again_ceiling));
    else if (blank_servers)
        of_->assemble_later(
            fsm::pick(of_->random_, std::chrono::milliseconds(1), std::chrono::milliseconds(20)));
    of_->review();
}

void quorum_state::assembly::ask_more()
{
    std::vector<fsm::member_view> views;
    for (const known& each : of_->members_) {
        views.push_back(each.view);
        views.back().reachable = each.reachable && each.inspected;
        views.back().epoch = std::max(views.back().epoch, of_->epoch());
    }
    rejoin_.emplace(of_->size, views);
    phase_ = phase::asking;
    const auto self = shared_from_this();
    switch (rejoin_->next()) {
    case fsm::rejoin::step::nothing:
        phase_ = phase::over;
        of_->assembling_.reset();
        of_->stuck_ = false;
        of_->tries_ = 0;
        of_->inspect_again();
        return of_->review();
    case fsm::rejoin::step::stuck: phase_ = phase::over; return go_on();
    case fsm::rejoin::step::finish: return write();
    case fsm::rejoin::step::adopt:
        return ask_all([&](unsigned i) {
            if (rejoin_->is_blank(i))
                return false;
            of_->at(i).async_adopt(
                rejoin_->epoch(), [this, self, i](error_code failed, const adopt_answer& answer) {
                    if (!failed && answer.adopted && answer.epoch >= rejoin_->epoch()) {
                        of_->saw_epoch(answer.epoch);
                        rejoin_->adopted(i, answer.largest, answer.lease);
                    }
                    answered(i, phase::asking);
                });
            return true;
        });
    case fsm::rejoin::step::confirm:
        return ask_all([&](unsigned i) {
            of_->at(i).async_inspect(
                of_->draw(), [this, self, i](error_code failed, const inspect_answer& answer) {
                    if (!failed)
                        rejoin_->confirmed(i, {.reachable = true,
                                               .is_member = answer.is_member,
                                               .epoch = answer.epoch,
                                               .largest = answer.largest,
                                               .nonce = answer.nonce,
                                               .lease = answer.lease});
                    answered(i, phase::asking);
                });
            return true;
        });
    }
}

void quorum_state::assembly::write()
{
    if (!rejoin_->ready()) {
        phase_ = phase::over;
        return go_on();
    }
    phase_ = phase::seeding;
    const auto self = shared_from_this();
    ask_all([&](unsigned i) {
        if (!rejoin_->is_blank(i))
            return false;
        of_->at(i).async_seed({.nonce = rejoin_->nonce(i),
                               .epoch = rejoin_->epoch(),
                               .floor = rejoin_->floor(),
                               .lease = rejoin_->lease(),
                               .silence = rejoin_->silence(),
                               .began = rejoin_->beginning()},
                              [this, self, i, connection = of_->members_[i].connection](
                                  error_code failed, const seed_answer& answer) {
                                  if (!failed && of_->members_[i].connection == connection)
                                      of_->joined(i, answer, rejoin_->epoch());
                                  answered(i, phase::seeding);
                              });
        return true;
    });
}

} // namespace leasehold::quorum
