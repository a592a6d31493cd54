#include "chaos/checker.hpp"

#include "chaos/client_timeline.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace leasehold::test::chaos {
namespace {

using std::to_string;

class checker
{
public:
    checker(const record& all, const limits& within) : all_(all), within_(within) {}

    report run()
    {
        for (std::size_t i = 0; i < all_.clients.size(); ++i)
            accounts_.push_back(read_history(all_.clients[i], i, all_.lease, out_));
        for (const fault& each : all_.faults)
            ++out_.faults[each.what];
        for (std::size_t i = 0; i < accounts_.size(); ++i) {
            check_losses(accounts_[i], all_.clients[i]);
            check_waits(accounts_[i], all_.clients[i]);
        }
        for (const std::string& name : all_.names) {
            check_exclusion(name);
            check_fences(name);
            check_register(name);
        }
        for (const std::string& each : all_.left_over)
            wrong(rule::left_over, {}, all_.healed, "in the server: " + each);
        std::stable_sort(out_.violations.begin(), out_.violations.end(),
                         [](const violation& a, const violation& b) { return a.at < b.at; });
        return std::move(out_);
    }

private:
    void wrong(rule broken, const std::string& name, stamp at, std::string why)
    {
        out_.violations.push_back({broken, name, at, std::move(why)});
    }

    std::string text_of(const grant& of) const
    {
        return all_.clients[of.client].client + " #" + to_string(of.op) + " with fence " +
               to_string(of.fence);
    }

    /// The last fault that lost confirmed data of this name after `from` and before `until`.
    const fault* loss_between(const std::string& name, stamp from, stamp until,
                              bool also_of_a_member = false) const
    {
        const auto found = std::find_if(
            all_.faults.rbegin(), all_.faults.rend(), [&](const fault& each) {
                return (each.loses || (also_of_a_member && each.forgets)) &&
                       (each.name.empty() || each.name == name) && each.end >= from &&
                       each.begin <= until;
            });
        return found == all_.faults.rend() ? nullptr : &*found;
    }

    void check_losses(const client_timeline& of, const history& from)
    {
        for (const grant& each : of.grants) {
            check_cause(each, each.lost, each.reason);
            check_cause(each, each.answered, each.outcome);
            const stamp known = std::min(each.lost.value_or(of.last), each.left.value_or(of.last));
            const stamp late = known - each.deadline - of.stalled(each.deadline, known);
            if (late > within_.loss)
                wrong(rule::loss_reported, each.name, known,
                      text_of(each) + ": " + to_string(late / std::chrono::milliseconds(1)) +
                          " ms after the deadline, " +
                          (each.lost == known ? "told of the loss" : "not told of the loss"));
            if (!each.lost && !each.left && from.ended == ending_kind::clean)
                wrong(rule::loss_reported, each.name, of.last,
                      text_of(each) + ": neither left nor lost");
        }
    }

    /// The store may deny a lock before the deadline only if it has lost it.
    void check_cause(const grant& of, const std::optional<stamp>& at, const std::string& why)
    {
        const bool denied = why == "lost" || why == "not_owner";
        if (at && denied && *at < of.deadline &&
            loss_between(of.name, of.confirmed, *at, true) == nullptr)
            wrong(rule::loss_caused, of.name, *at,
                  text_of(of) + ": " + why + " although no data was lost");
    }

    void check_waits(const client_timeline& of, const history& from)
    {
        for (const lock_request& each : of.wishes) {
            const stamp begin = std::max(each.asked, all_.healed);
            const stamp end = each.ended.value_or(of.last);
            if (from.ended != ending_kind::killed && end > begin)
                check_wait(from.client, each, end - begin - of.stalled(begin, end));
        }
        if (from.ended != ending_kind::clean)
            return;
        for (const std::string& name : all_.names)
            if (std::none_of(of.wishes.begin(), of.wishes.end(), [&](const lock_request& each) {
                    return each.granted && each.how == way::probe && each.name == name;
                }))
                wrong(rule::liveness, name, all_.healed,
                      from.client + " did not get in after the last fault");
    }

    void check_wait(const std::string& client, const lock_request& wish, stamp took)
    {
        if (wish.how != way::last) // these wait for the shutdown
            out_.slowest = std::max(out_.slowest, took);
        if (took > within_.acquire + all_.lease)
            wrong(rule::liveness, wish.name, wish.asked,
                  client + " #" + to_string(wish.op) + ' ' + wish.how + " took " +
                      to_string(took / std::chrono::milliseconds(1)) +
                      " ms when nothing was broken");
    }

    std::vector<const grant*> grants_of(const std::string& name) const
    {
        std::vector<const grant*> found;
        for (const client_timeline& each : accounts_)
            for (const grant& held : each.grants)
                if (held.name == name)
                    found.push_back(&held);
        return found;
    }

    void check_exclusion(const std::string& name)
    {
        auto all = grants_of(name);
        std::erase_if(all, [](const grant* each) { return each->told >= each->end(); });
        std::sort(all.begin(), all.end(),
                  [](const grant* a, const grant* b) { return a->told < b->told; });
        std::vector<const grant*> in;
        std::map<const grant*, const fault*> excused; // once for each excused holder
        for (const grant* each : all) {
            std::erase_if(in, [&](const grant* other) { return other->end() <= each->told; });
            for (const grant* other : in) {
                const grant& second = other->fence < each->fence ? *each : *other;
                const grant& first = &second == each ? *other : *each;
                const fault* const why = loss_between(name, first.confirmed, second.told);
                if (why == nullptr || first.client == second.client)
                    wrong(rule::exclusion, name, each->told,
                          text_of(*other) + " and " + text_of(*each) + " both had it");
                else
                    excused.emplace(&second, why);
            }
            in.push_back(each);
        }
        for (const auto& [which, why] : excused)
            ++out_.excused[why->what];
    }

    void check_fences(const std::string& name)
    {
        auto all = grants_of(name);
        std::sort(all.begin(), all.end(),
                  [](const grant* a, const grant* b) { return a->fence < b->fence; });
        for (std::size_t i = 1; i < all.size(); ++i)
            if (all[i - 1]->fence == all[i]->fence)
                wrong(rule::fence_unique, name, all[i]->told,
                      text_of(*all[i - 1]) + " and " + text_of(*all[i]));

        std::vector<const hold*> by_end;
        for (const client_timeline& each : accounts_)
            for (const hold& held : each.holds)
                if (held.name == name && held.earliest != stamp())
                    by_end.push_back(&held);
        std::vector<const hold*> by_begin = by_end;
        std::sort(by_end.begin(), by_end.end(),
                  [](const hold* a, const hold* b) { return a->latest < b->latest; });
        std::sort(by_begin.begin(), by_begin.end(),
                  [](const hold* a, const hold* b) { return a->earliest < b->earliest; });
        std::uint64_t largest = 0;
        auto before = by_end.begin();
        for (const hold* each : by_begin) {
            for (; before != by_end.end() && (*before)->latest <= each->earliest; ++before)
                largest = std::max(largest, (*before)->last_fence);
            if (largest >= each->first_fence)
                wrong(rule::fence_order, name, each->latest,
                      "fence " + to_string(each->first_fence) + " was asked for after " +
                          to_string(largest) + " had been given");
        }
    }

    using write_key = std::tuple<std::string, std::uint32_t, std::uint64_t, std::int64_t>;

    void check_register(const std::string& name)
    {
        std::map<write_key, const write_attempt*> attempts;
        for (std::size_t i = 0; i < accounts_.size(); ++i)
            for (const write_attempt& each : accounts_[i].writes)
                if (each.name == name)
                    attempts.emplace(
                        write_key{all_.clients[i].client, each.op, each.fence, each.value}, &each);
        const auto found = all_.writes.find(name);
        if (found != all_.writes.end())
            check_writes(name, found->second, attempts);
        for (const auto& [key, each] : attempts)
            if (each->taken.value_or(false))
                wrong(rule::register_agrees, name, each->at,
                      std::get<0>(key) + " wrote " + to_string(each->value) +
                          ", which is not there");
    }

    void check_writes(const std::string& name, const std::vector<write>& writes,
                      std::map<write_key, const write_attempt*>& attempts)
    {
        std::uint64_t last_fence = 0;
        std::int64_t last_value = 0;
        for (const write& each : writes) {
            const std::string text = each.client + " wrote " + to_string(each.value) +
                                     " with fence " + to_string(each.fence);
            const auto attempt = attempts.find({each.client, each.op, each.fence, each.value});
            const stamp at = attempt == attempts.end() ? stamp() : attempt->second->at;
            if (each.fence < last_fence)
                wrong(rule::register_order, name, at, text + " after " + to_string(last_fence));
            if (each.value != last_value + 1)
                wrong(rule::no_lost_update, name, at, text + " over " + to_string(last_value));
            if (attempt == attempts.end() || !attempt->second->taken.value_or(true))
                wrong(rule::register_agrees, name, at, text + ", and no client recorded it");
            else
                attempts.erase(attempt);
            last_fence = std::max(last_fence, each.fence);
            last_value = each.value;
        }
    }

    const record& all_;
    const limits within_;
    std::vector<client_timeline> accounts_;
    report out_;
};

} // namespace

report check(const record& all, const limits& within)
{
    return checker(all, within).run();
}

} // namespace leasehold::test::chaos
