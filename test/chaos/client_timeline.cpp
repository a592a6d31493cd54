#include "chaos/client_timeline.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>

namespace leasehold::test::chaos {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// A lease that was reported to the observer, but perhaps not yet to the caller.
struct given
{
    std::string name;
    std::uint64_t fence;
    std::size_t hold;
    stamp at;
    bool fresh;
    std::optional<stamp> sent; ///< With heartbeats: when it was sent, counted from the call.
    /// Renewed before the caller had it. Its first deadline then does not show the time of its
    /// request.
    bool renewed = false;
    bool told = false;
};

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool store_fault(std::string_view word)
{
    return one_of(word, std::array<std::string_view, 4>{"store_unavailable", "store_refused",
                                                        "outcome_unknown", outvoted});
}

/// Whether the deadline has passed.
bool is_over(std::string_view word)
{
    return word == "expired" || word == "silent";
}

/// The possible errors of an operation before the shutdown of its client.
bool may_fail(std::string_view how, std::string_view word)
{
    if (word == unconfirmed)
        return true;
    if (how == way::try_once)
        return word == "held" || store_fault(word);
    if (how == way::try_for)
        return word == "timed_out" || word == "held" || store_fault(word);
    return false;
}

class reader
{
public:
    reader(const history& of, std::size_t index, stamp lease, report& into)
        : of_(of), index_(index), lease_(lease), into_(into)
    {}

    client_timeline read()
    {
        for (const event& each : of_.events) {
            if (each.at < out_.last)
                wrong(rule::well_formed, each, "time goes backwards");
            out_.last = std::max(out_.last, each.at);
            take(each);
        }
        finish();
        return std::move(out_);
    }

private:
    void wrong(rule broken, const event& at, const std::string& why)
    {
        into_.violations.push_back({broken, at.name, at.at,
                                    of_.client + " #" + std::to_string(at.op) + ' ' +
                                        std::string(name_of(at.what)) + ", fence " +
                                        std::to_string(at.fence) + ": " + why});
    }

    void wrong(rule broken, const std::string& name, stamp at, const std::string& why)
    {
        into_.violations.push_back({broken, name, at, of_.client + ": " + why});
    }

    void take(const event& e)
    {
        switch (e.what) {
        case verb::asked: return asked(e);
        case verb::given: return was_given(e);
        case verb::granted: return granted(e);
        case verb::failed:
        case verb::cancelled: return not_granted(e);
        case verb::renewed: return renewed(e);
        case verb::stalled: out_.stalls.emplace_back(stamp(e.number), e.at); return;
        case verb::closing: out_.closing = e.at; return;
        case verb::closed: return closed(e);
        case verb::count_: return;
        default: break;
        }
        if (grant* const held = held_as(e))
            of_lease(*held, e);
        else
            wrong(rule::well_formed, e, "no lease was granted to this operation with this fence");
    }

    void of_lease(grant& held, const event& e)
    {
        switch (e.what) {
        case verb::lost: return lost(held, e);
        case verb::releasing:
        case verb::dropped: return left(held, e);
        case verb::released: return released(held, e);
        case verb::writing: out_.writes.push_back({e.name, e.op, e.fence, e.number, e.at}); return;
        case verb::wrote:
        case verb::refused: return answered(e);
        case verb::stale: ++into_.refused; return;
        default: return;
        }
    }

    void asked(const event& e)
    {
        if (e.op != out_.wishes.size() + 1)
            return wrong(rule::well_formed, e, "operations are not numbered in order");
        ++into_.operations;
        out_.wishes.push_back({e.name, e.op, e.word, e.at});
        granted_.push_back(none);
    }

    lock_request* wish_of(const event& e)
    {
        if (e.op == 0 || e.op > out_.wishes.size() || out_.wishes[e.op - 1].name != e.name)
            return nullptr;
        return &out_.wishes[e.op - 1];
    }

    grant* held_as(const event& e)
    {
        if (!wish_of(e) || granted_[e.op - 1] == none)
            return nullptr;
        grant& found = out_.grants[granted_[e.op - 1]];
        return found.fence == e.fence ? &found : nullptr;
    }

    /// An operation ends once.
    lock_request* end(const event& e)
    {
        lock_request* const found = wish_of(e);
        if (found == nullptr || found->ended) {
            wrong(rule::well_formed, e, "there is no such operation, or it has ended before");
            return nullptr;
        }
        found->ended = e.at;
        return found;
    }

    void was_given(const event& e)
    {
        const bool promised = e.word == "promised";
        const bool fresh = promised || e.word == "fresh";
        const auto last = last_given_.find(e.name);
        if (last != last_given_.end() && given_[last->second].fence >= e.fence)
            wrong(rule::fence_order, e,
                  "it had " + std::to_string(given_[last->second].fence) + " before");
        std::size_t in = out_.holds.size();
        if (fresh) {
            out_.holds.push_back({e.name, {}, e.at, e.fence, e.fence});
        }
        else {
            if (last == last_given_.end())
                return wrong(rule::well_formed, e, "handed over by no client");
            in = given_[last->second].hold;
            out_.holds[in].last_fence = e.fence;
        }
        last_given_[e.name] = given_.size();
        given_.push_back({e.name, e.fence, in, e.at, fresh,
                          promised ? std::optional(stamp(e.number)) : std::nullopt});
    }

    given* given_as(const event& e)
    {
        for (auto each = given_.rbegin(); each != given_.rend(); ++each)
            if (each->fence == e.fence && each->name == e.name)
                return &*each;
        return nullptr;
    }

    void granted(const event& e)
    {
        lock_request* const by = end(e);
        given* const from = given_as(e);
        if (by == nullptr)
            return;
        if (from == nullptr || from->told)
            return wrong(rule::well_formed, e, "the observer was told of no such lease");
        from->told = true;
        by->granted = true;
        ++into_.grants;
        into_.handed_off += from->fresh ? 0 : 1;
        check_deadline(e, e.at);
        if (e.flag && e.at >= e.deadline())
            wrong(rule::deadline, e, "valid after its deadline");
        hold& in = out_.holds[from->hold];
        if (from->sent)
            in.confirmed = in.earliest = by->asked + *from->sent;
        else if (from->fresh)
            in.earliest = from->renewed ? by->asked
                                        : std::max(by->asked, sent_for(e.deadline(), lease_));
        granted_[e.op - 1] = out_.grants.size();
        out_.grants.push_back({index_, e.name, e.op, e.fence, from->hold, e.at, e.deadline(),
                               in.confirmed.value_or(sent_for(e.deadline(), lease_))});
    }

    void not_granted(const event& e)
    {
        const lock_request* const by = end(e);
        if (by == nullptr)
            return;
        const bool cancelled = e.what == verb::cancelled;
        ++(cancelled ? into_.cancelled : into_.not_acquired);
        const bool closing = out_.closing && e.word == "shut_down";
        if (cancelled ? by->how != way::cancel : !closing && !may_fail(by->how, e.word))
            wrong(rule::outcome, e,
                  by->how + " ended with " + (cancelled ? "a cancellation" : e.word));
    }

    /// The deadline counts from a time before the request was sent, and so before its effects.
    void check_deadline(const event& e, stamp known)
    {
        if (sent_for(e.deadline(), lease_) > known)
            wrong(rule::deadline, e, "the deadline is further away than a lease is long");
    }

    void renewed(const event& e)
    {
        ++into_.renewals;
        if (e.op == 0) {
            given* const found = given_as(e);
            if (found == nullptr)
                return wrong(rule::well_formed, e, "the observer was told of no such lease");
            found->renewed = true;
            return;
        }
        grant* const held = held_as(e);
        if (held == nullptr)
            return wrong(rule::well_formed, e,
                         "no lease was granted to this operation with this fence");
        if (held->lost || held->left)
            wrong(rule::loss_final, e, "renewed when it was over");
        check_deadline(e, e.at);
        moved(*held, e);
        if (hold& in = out_.holds[held->hold]; in.confirmed && !e.word.empty()) {
            const stamp sent(std::strtoll(e.word.c_str(), nullptr, 10));
            if (sent > e.at)
                wrong(rule::well_formed, e, "renewed before it was asked for");
            in.confirmed = held->confirmed = std::max(held->confirmed, sent);
        }
    }

    /// Sets the current deadline.
    void moved(grant& held, const event& e)
    {
        if (e.deadline() < held.deadline)
            wrong(rule::deadline, e, "the deadline goes back");
        held.deadline = std::max(held.deadline, e.deadline());
        if (!out_.holds[held.hold].confirmed)
            held.confirmed = sent_for(held.deadline, lease_);
    }

    void lost(grant& held, const event& e)
    {
        if (held.lost)
            wrong(rule::well_formed, e, "lost twice");
        held.lost = e.at;
        held.reason = e.word;
        ++into_.losses[e.word];
        check_deadline(e, e.at);
        moved(held, e);
        if (e.flag)
            wrong(rule::loss_final, e, "still valid when the loss was told");
        if (is_over(e.word)         ? e.at < held.deadline
            : e.word == "shut_down" ? !out_.closing
                                    : e.word != "lost")
            wrong(rule::loss_caused, e, "lost for the reason " + e.word);
    }

    void left(grant& held, const event& e)
    {
        if (held.left)
            wrong(rule::well_formed, e, "left twice");
        held.left = e.at;
        held.valid_when_left = e.flag;
        check_deadline(e, e.at);
        moved(held, e);
        if (e.flag && e.at >= e.deadline())
            wrong(rule::deadline, e, "valid after its deadline");
        if (e.flag && held.lost)
            wrong(rule::loss_final, e, "valid after its loss");
    }

    void released(grant& held, const event& e)
    {
        if (!held.left || held.answered)
            wrong(rule::well_formed, e, "released without a release");
        held.answered = e.at;
        held.outcome = e.word;
        if (e.word == fine && !held.valid_when_left)
            wrong(rule::outcome, e, "what was over was released well");
        if (is_over(e.word) && e.at < held.deadline)
            wrong(rule::loss_caused, e, "expired before its deadline");
    }

    void answered(const event& e)
    {
        const bool taken = e.what == verb::wrote;
        ++(taken ? into_.writes : into_.refused);
        for (auto each = out_.writes.rbegin(); each != out_.writes.rend(); ++each) {
            if (each->op != e.op)
                continue;
            if (each->taken || each->value != e.number || each->fence != e.fence)
                break;
            each->taken = taken;
            return;
        }
        wrong(rule::well_formed, e, "an answer to no write");
    }

    void closed(const event& e)
    {
        closed_ = true;
        if (e.number != 0)
            wrong(rule::left_over, e,
                  std::to_string(e.number) +
                      " held, waiting or to be given back after the shutdown");
        if (e.word != fine)
            wrong(rule::outcome, e, "the shutdown ended with " + e.word);
    }

    void finish()
    {
        std::sort(out_.stalls.begin(), out_.stalls.end());
        if (of_.unreadable != 0)
            wrong(rule::well_formed, {}, out_.last,
                  std::to_string(of_.unreadable) + " lines cannot be read");
        if (of_.ended == ending_kind::failed)
            wrong(rule::exit, {}, out_.last, of_.how);
        if (of_.ended != ending_kind::clean)
            return;
        if (!closed_)
            wrong(rule::exit, {}, out_.last, "it ended without having closed its client");
        for (const lock_request& each : out_.wishes)
            if (!each.ended)
                wrong(rule::outcome, each.name, each.asked,
                      '#' + std::to_string(each.op) + ' ' + each.how + " never ended");
        for (const given& each : given_)
            if (!each.told)
                wrong(rule::outcome, each.name, each.at,
                      "its lease with fence " + std::to_string(each.fence) + " reached no caller");
    }

    const history& of_;
    const std::size_t index_;
    const stamp lease_;
    report& into_;
    client_timeline out_;
    std::vector<given> given_;
    std::map<std::string, std::size_t> last_given_;
    std::vector<std::size_t> granted_; ///< For each operation, the index of its grant.
    bool closed_ = false;
};

} // namespace

stamp grant::end() const noexcept
{
    return std::min({deadline, lost.value_or(stamp::max()), left.value_or(stamp::max())});
}

stamp client_timeline::stalled(stamp from, stamp until) const noexcept
{
    // Stalls do not overlap, because each is noticed when it ends.
    auto each = std::lower_bound(stalls.begin(), stalls.end(), from,
                                 [](const auto& stall, stamp t) { return stall.second < t; });
    stamp sum{};
    for (; each != stalls.end() && each->first < until; ++each)
        sum += std::max(stamp::zero(), std::min(each->second, until) - std::max(each->first, from));
    return sum;
}

stamp sent_for(stamp deadline, stamp lease) noexcept
{
    return deadline - lease + fsm::drift_margin(lease);
}

client_timeline read_history(const history& of, std::size_t index, stamp lease, report& into)
{
    return reader(of, index, lease, into).read();
}

} // namespace leasehold::test::chaos
