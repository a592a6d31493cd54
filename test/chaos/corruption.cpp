#include "chaos/corruption.hpp"

#include "chaos/checker.hpp"
#include "chaos/client_timeline.hpp"
#include "testing/time/random.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, static_cast<std::size_t>(corruption::count_)> names = {
    "second holder",   "fence repeated", "fences swapped",  "deadline further", "deadline back",
    "valid too long",  "loss untold",    "loss late",       "loss early",       "loss revived",
    "release missing", "answer missing", "time backwards",  "write moved",      "write missing",
    "write doubled",   "write invented", "refusal ignored", "no entry",         "slow entry",
    "excuse missing",  "key left",       "hold left",       "bad exit",
};

/// Longer than any limit.
constexpr stamp ages = 30s;

bool leaves(const event& e)
{
    return e.what == verb::releasing || e.what == verb::dropped;
}

class forger
{
public:
    forger(const record& run, std::uint64_t seed) : out_(run), random_(seed) {}

    bool apply(corruption how)
    {
        switch (how) {
        case corruption::second_holder: return second_holder();
        case corruption::fence_repeated: return fence_repeated();
        case corruption::fences_swapped: return fences_swapped();
        case corruption::deadline_further: return deadline_further();
        case corruption::deadline_back: return deadline_back();
        case corruption::valid_too_long: return valid_too_long();
        case corruption::loss_untold: return remove_end(true);
        case corruption::loss_late: return loss_late();
        case corruption::loss_early: return loss_early();
        case corruption::loss_revived: return loss_revived();
        case corruption::release_missing: return remove_end(false);
        case corruption::answer_missing: return answer_missing();
        case corruption::time_backwards: return time_backwards();
        case corruption::write_moved:
        case corruption::write_missing:
        case corruption::write_doubled:
        case corruption::write_invented: return change_write(how);
        case corruption::refusal_ignored: return refusal_ignored();
        case corruption::no_entry: return no_entry();
        case corruption::slow_entry: return slow_entry();
        case corruption::excuse_missing: return excuse_missing();
        case corruption::key_left: out_.left_over.push_back(out_.names.front()); return true;
        case corruption::hold_left: return hold_left();
        case corruption::bad_exit: return bad_exit();
        case corruption::count_: break;
        }
        return false;
    }

    record take() { return std::move(out_); }

private:
    /// The place of an event in the record of a client.
    struct place
    {
        std::size_t client;
        std::size_t index;
    };

    event& at(const place& p) { return out_.clients[p.client].events[p.index]; }

    template <class T>
    T* pick(std::vector<T>& from)
    {
        return from.empty() ? nullptr : &from[random_.below(from.size())];
    }

    template <class Predicate>
    std::optional<place> find(Predicate fits, bool only_clean = false)
    {
        std::vector<place> found;
        for (std::size_t c = 0; c < out_.clients.size(); ++c) {
            if (only_clean && out_.clients[c].ended != ending_kind::clean)
                continue;
            for (std::size_t i = 0; i < out_.clients[c].events.size(); ++i)
                if (fits(c, out_.clients[c].events[i]))
                    found.push_back({c, i});
        }
        const place* const chosen = pick(found);
        return chosen == nullptr ? std::nullopt : std::optional(*chosen);
    }

    void insert(const place& before, const event& e)
    {
        auto& events = out_.clients[before.client].events;
        events.insert(events.begin() + static_cast<std::ptrdiff_t>(before.index), e);
    }

    template <class Predicate>
    void remove(std::size_t client, Predicate matches)
    {
        std::erase_if(out_.clients[client].events, matches);
    }

    const std::vector<client_timeline>& accounts()
    {
        report ignored;
        if (accounts_.empty())
            for (std::size_t c = 0; c < out_.clients.size(); ++c)
                accounts_.push_back(read_history(out_.clients[c], c, out_.lease, ignored));
        return accounts_;
    }

    template <class Predicate>
    const grant* find_grant(Predicate fits)
    {
        std::vector<const grant*> found;
        for (const client_timeline& each : accounts())
            for (const grant& held : each.grants)
                if (fits(held))
                    found.push_back(&held);
        const grant** const chosen = pick(found);
        return chosen == nullptr ? nullptr : *chosen;
    }

    bool data_lost(const grant& of, stamp until) const
    {
        return std::any_of(out_.faults.begin(), out_.faults.end(), [&](const fault& each) {
            return (each.loses || each.forgets) && (each.name.empty() || each.name == of.name) &&
                   each.end >= of.confirmed && each.begin <= until;
        });
    }

    bool second_holder()
    {
        const grant* const first = find_grant([&](const grant& each) {
            return each.end() - each.told > 1us && !data_lost(each, each.end());
        });
        if (first == nullptr)
            return false;
        const stamp now = first->told + (first->end() - first->told) / 2;
        const stamp deadline = now + out_.lease - out_.lease / 50 - 5ms;
        const event any{.at = now,
                        .name = first->name,
                        .op = 1,
                        .fence = first->fence + 1,
                        .number = deadline.count(),
                        .flag = true};
        history forged{.client = "forged", .ended = ending_kind::killed};
        for (const verb kind :
             {verb::asked, verb::given, verb::granted, verb::releasing, verb::released}) {
            event next = any;
            next.what = kind;
            if (kind == verb::releasing || kind == verb::released)
                next.at = now + 1ns;
            next.word = kind == verb::asked ? way::lock : kind == verb::given ? "fresh" : fine;
            forged.events.push_back(next);
        }
        out_.clients.push_back(std::move(forged));
        return true;
    }

    void change_fence(std::size_t client, const std::string& name, std::uint64_t from,
                      std::uint64_t to)
    {
        for (event& each : out_.clients[client].events)
            if (each.name == name && each.fence == from)
                each.fence = to;
    }

    bool fence_repeated()
    {
        const grant* const one = find_grant([](const grant&) { return true; });
        if (one == nullptr)
            return false;
        const grant* const other = find_grant(
            [&](const grant& each) { return each.name == one->name && each.fence != one->fence; });
        if (other == nullptr)
            return false;
        change_fence(other->client, other->name, other->fence, one->fence);
        return true;
    }

    bool fences_swapped()
    {
        const auto hold_of = [&](const grant& of) -> const hold& {
            return accounts()[of.client].holds[of.hold];
        };
        const grant* first = nullptr;
        const grant* second = nullptr;
        for (int tries = 0; first == nullptr && tries < 20;
             ++tries) { // the first leases have no earlier holder
            second = find_grant([&](const grant& each) {
                return hold_of(each).first_fence == each.fence && hold_of(each).earliest != stamp();
            });
            if (second != nullptr)
                first = find_grant([&](const grant& each) {
                    return each.name == second->name &&
                           hold_of(each).latest <= hold_of(*second).earliest;
                });
        }
        if (first == nullptr)
            return false;
        const auto [a, b] = std::pair(first->fence, second->fence);
        change_fence(first->client, first->name, a, 0);
        change_fence(second->client, second->name, b, a);
        change_fence(first->client, first->name, 0, b);
        for (write& each : out_.writes[first->name])
            each.fence = each.fence == a ? b : each.fence == b ? a : each.fence;
        return true;
    }

    bool deadline_further()
    {
        const auto at_event = find([](std::size_t, const event& e) {
            return e.what == verb::granted || e.what == verb::lost || leaves(e) ||
                   (e.what == verb::renewed && e.op != 0);
        });
        if (!at_event)
            return false;
        at(*at_event).number = (at(*at_event).at + out_.lease).count();
        return true;
    }

    bool deadline_back()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) { return e.what == verb::renewed && e.op != 0; });
        if (!at_event)
            return false;
        event& renewal = at(*at_event);
        for (const event& each : out_.clients[at_event->client].events)
            if (each.what == verb::granted && each.op == renewal.op)
                renewal.number = each.number - 1;
        return true;
    }

    bool valid_too_long()
    {
        const auto at_event = find([](std::size_t, const event& e) { return leaves(e); });
        if (!at_event)
            return false;
        event& leaving = at(*at_event);
        leaving.flag = true;
        leaving.number = std::min(leaving.number, leaving.at.count() - 1);
        return true;
    }

    /// Removes the end of a lease: there is no event of its release or loss.
    bool remove_end(bool was_lost)
    {
        const grant* const found = find_grant([&](const grant& each) {
            return each.lost.has_value() == was_lost &&
                   out_.clients[each.client].ended == ending_kind::clean;
        });
        if (found == nullptr)
            return false;
        remove(found->client, [&](const event& e) {
            return e.op == found->op &&
                   (e.what == verb::lost || e.what == verb::released || leaves(e));
        });
        return true;
    }

    bool loss_late()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) { return e.what == verb::lost; });
        if (!at_event)
            return false;
        const auto op = at(*at_event).op;
        for (event& each : out_.clients[at_event->client].events)
            if (each.op == op && each.number != 0 &&
                (each.what == verb::granted || each.what == verb::renewed ||
                 each.what == verb::lost || leaves(each)))
                each.number -= stamp(ages).count();
        return true;
    }

    bool loss_early()
    {
        const auto lossless = [&](const grant& each) {
            return !each.lost && each.valid_when_left && each.left && *each.left < each.deadline &&
                   !data_lost(each, *each.left);
        };
        const grant* const found = find_grant(lossless);
        if (found == nullptr)
            return false;
        auto& events = out_.clients[found->client].events;
        const auto leaving = std::find_if(events.begin(), events.end(), [&](const event& e) {
            return e.op == found->op && leaves(e);
        });
        event loss = *leaving;
        loss.what = verb::lost;
        loss.flag = false;
        loss.word = "lost";
        leaving->flag = false;
        for (event& each : events)
            if (each.op == found->op && each.what == verb::released)
                each.word = "lost";
        events.insert(std::find_if(events.begin(), events.end(),
                                   [&](const event& e) { return e.op == loss.op && leaves(e); }),
                      loss);
        return true;
    }

    bool loss_revived()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) { return e.what == verb::lost; });
        if (!at_event)
            return false;
        event renewal = at(*at_event);
        renewal.what = verb::renewed;
        insert({at_event->client, at_event->index + 1}, renewal);
        return true;
    }

    bool answer_missing()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) {
                return e.what == verb::failed || e.what == verb::cancelled;
            },
            true);
        if (!at_event)
            return false;
        auto& events = out_.clients[at_event->client].events;
        events.erase(events.begin() + static_cast<std::ptrdiff_t>(at_event->index));
        return true;
    }

    bool time_backwards()
    {
        for (int tries = 0; tries < 100; ++tries) {
            const auto at_event = find([](std::size_t, const event&) { return true; });
            if (!at_event)
                return false;
            if (at_event->index == 0)
                continue;
            event& before = at({at_event->client, at_event->index - 1});
            event& after = at(*at_event);
            if (before.at == after.at)
                continue;
            std::swap(before.at, after.at);
            return true;
        }
        return false;
    }

    bool change_write(corruption how)
    {
        std::vector<std::pair<std::vector<write>*, std::size_t>> found;
        for (auto& [name, writes] : out_.writes)
            for (std::size_t i = 0; i + 1 < writes.size();
                 ++i) // not the last event, because its writer may have died without one
                found.emplace_back(&writes, i);
        const auto* const chosen = pick(found);
        if (chosen == nullptr)
            return false;
        auto& [writes, i] = *chosen;
        const auto here = writes->begin() + static_cast<std::ptrdiff_t>(i);
        if (how == corruption::write_moved)
            std::swap(*here, *(here + 1));
        else if (how == corruption::write_missing)
            writes->erase(here);
        else if (how == corruption::write_doubled)
            writes->insert(here, write(*here));
        else
            here->client = "unknown";
        return true;
    }

    bool refusal_ignored()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) { return e.what == verb::wrote; });
        if (!at_event)
            return false;
        at(*at_event).what = verb::refused;
        return true;
    }

    /// A probe that was granted: a lock that replicas did not confirm is requested again.
    std::optional<place> find_probe()
    {
        return find(
            [this](std::size_t client, const event& e) {
                const auto& all = out_.clients[client].events;
                return e.what == verb::asked && e.word == way::probe &&
                       std::any_of(all.begin(), all.end(), [&](const event& each) {
                           return each.what == verb::granted && each.op == e.op;
                       });
            },
            true);
    }

    bool no_entry()
    {
        const auto at_event = find_probe();
        if (!at_event)
            return false;
        at(*at_event).word = way::lock;
        return true;
    }

    bool slow_entry()
    {
        const auto at_event = find_probe();
        if (!at_event)
            return false;
        const auto op = at(*at_event).op;
        bool later = false;
        for (event& each : out_.clients[at_event->client].events) {
            later = later || (each.op == op && each.what == verb::granted);
            if (!later)
                continue;
            each.at += ages;
            if (each.what == verb::stalled)
                each.number += stamp(ages).count();
        }
        return true;
    }

    bool excuse_missing()
    {
        if (check(out_).excused.empty())
            return false;
        std::erase_if(out_.faults, [](const fault& each) { return each.loses; });
        return true;
    }

    bool hold_left()
    {
        const auto at_event = find(
            [](std::size_t, const event& e) { return e.what == verb::closed; });
        if (!at_event)
            return false;
        at(*at_event).number = 1;
        return true;
    }

    bool bad_exit()
    {
        history& client = out_.clients[random_.below(out_.clients.size())];
        client.ended = ending_kind::failed;
        client.how = "exit code 1";
        return true;
    }

    record out_;
    testing::impl::generator random_;
    std::vector<client_timeline> accounts_;
};

} // namespace

const char* name_of(corruption how) noexcept
{
    return names[static_cast<std::size_t>(how)];
}

std::optional<record> corrupted(const record& run, corruption how, std::uint64_t seed)
{
    forger at_work(run, seed);
    if (!at_work.apply(how))
        return std::nullopt;
    return at_work.take();
}

record only(const record& of, const std::string& name)
{
    record out = of;
    out.names = {name};
    std::erase_if(out.writes, [&](const auto& each) { return each.first != name; });
    for (history& client : out.clients) {
        std::erase_if(client.events,
                      [&](const event& e) { return !e.name.empty() && e.name != name; });
        std::map<std::uint32_t, std::uint32_t> numbers{
            {0, 0}}; // operations are numbered from 1 without gaps
        for (event& each : client.events)
            each.op =
                numbers.emplace(each.op, static_cast<std::uint32_t>(numbers.size())).first->second;
        for (write& each : out.writes[name])
            if (each.client == client.client)
                each.op = numbers.contains(each.op) ? numbers[each.op] : 0;
    }
    return out;
}

rejections reject_corrupted(const record& good, int times, std::uint64_t seed)
{
    std::vector<record> parts;
    for (const std::string& name : good.names)
        parts.push_back(only(good, name));
    rejections out;
    constexpr auto kinds = static_cast<int>(corruption::count_);
    for (int i = 0, unused = 0;
         out.tried < times && !parts.empty() && unused < kinds * static_cast<int>(parts.size());
         ++i) {
        const auto how = static_cast<corruption>(i % kinds);
        const auto bad = corrupted(parts[static_cast<std::size_t>(i / kinds) % parts.size()], how,
                                   seed + static_cast<std::uint64_t>(i));
        unused = bad ? 0 : unused + 1;
        if (!bad)
            continue;
        ++out.tried;
        if (!check(*bad).violations.empty())
            ++out.rejected;
        else
            out.accepted += std::string(out.accepted.empty() ? "" : ", ") + name_of(how);
    }
    return out;
}

} // namespace leasehold::test::chaos
