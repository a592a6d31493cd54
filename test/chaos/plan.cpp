#include "chaos/plan.hpp"

#include "testing/time/random.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace leasehold::test::chaos {
namespace {

using std::chrono::milliseconds;

constexpr auto kinds = static_cast<std::size_t>(fault_kind::count_);

constexpr std::array<const char*, kinds> kind_names = {
    "server killed",
    "last writes lost",
    "server stopped",
    "DEBUG SLEEP",
    "slow script, BUSY",
    "SCRIPT FLUSH",
    "FLUSHALL",
    "key deleted",
    "CLIENT KILL",
    "out of memory",
    "tables locked",
    "master killed",
    "master stopped",
    "master cut off",
    "master switched",
    "replica killed",
    "replica stopped",
    "Sentinel killed",
    "slot moved",
    "slot orphaned",
    "member killed",
    "member stopped",
    "member emptied",
    "member cut off",
    "client stopped",
    "client killed",
    "half-open",
    "blackhole",
    "requests lost",
    "replies lost",
    "replies held back",
    "connections reset",
    "reset around a command",
    "connections refused",
    "latency",
};

class planner
{
public:
    planner(std::uint64_t seed, const plan_settings& how) : random_(seed), set_(how) {}

    std::vector<planned_fault> run()
    {
        milliseconds now(300);
        while (now < set_.length) {
            std::erase_if(active_, [&](const planned_fault& each) { return end(each) <= now; });
            const fault_kind kind = active_.size() == most_at_once ? fault_kind::count_
                                                                   : next_kind();
            if (kind == fault_kind::count_) {
                now = first_end();
                continue;
            }
            const planned_fault next{kind, at_server(kind) ? the_server : free_client(), now,
                                     length_of(kind), random_.next()};
            out_.push_back(next);
            active_.push_back(next);
            if (random_.below(4) == 0)
                now = std::max(now, last_end()) + milliseconds(random_.between(300, 900));
            else
                now += milliseconds(random_.between(50, 400));
        }
        return std::move(out_);
    }

private:
    static milliseconds end(const planned_fault& of) { return of.begin + of.length; }

    milliseconds first_end() const
    {
        return end(*std::min_element(
            active_.begin(), active_.end(),
            [](const planned_fault& a, const planned_fault& b) { return end(a) < end(b); }));
    }

    milliseconds last_end() const
    {
        return end(*std::max_element(
            active_.begin(), active_.end(),
            [](const planned_fault& a, const planned_fault& b) { return end(a) < end(b); }));
    }

    bool busy(std::size_t place) const
    {
        return std::any_of(active_.begin(), active_.end(),
                           [&](const planned_fault& each) { return each.place == place; });
    }

    /// A kind that is possible now. The others stay in the bag for later.
    fault_kind next_kind()
    {
        if (bag_.empty()) {
            for (const fault_kind each : set_.kinds)
                bag_.insert(bag_.begin() +
                                static_cast<std::ptrdiff_t>(random_.below(bag_.size() + 1)),
                            each);
        }
        const auto found = std::find_if(bag_.rbegin(), bag_.rend(), [&](fault_kind each) {
            return !at_server(each) || !busy(the_server);
        });
        if (found == bag_.rend())
            return fault_kind::count_;
        const fault_kind kind = *found;
        bag_.erase(std::next(found).base());
        return kind;
    }

    std::size_t free_client()
    {
        std::size_t chosen = random_.below(set_.clients);
        while (busy(chosen))
            chosen = (chosen + 1) % set_.clients;
        return chosen;
    }

    milliseconds lease_times(int tenths_from, int tenths_to)
    {
        return set_.lease * random_.between(tenths_from, tenths_to) / 10;
    }

    milliseconds length_of(fault_kind kind)
    {
        switch (kind) {
        case fault_kind::kill_server:
        case fault_kind::kill_replica:
        case fault_kind::kill_sentinel:
        case fault_kind::kill_member:
        case fault_kind::move_slot:
        case fault_kind::kill_client: return milliseconds(random_.between(1, 500));
        case fault_kind::power_cut: return milliseconds(random_.between(100, 1000));
        case fault_kind::stop_server:
        case fault_kind::stop_member:
        case fault_kind::stop_client: return lease_times(11, 20);
        case fault_kind::latency: return lease_times(15, 30);
        case fault_kind::kill_master:
        case fault_kind::cut_master: return lease_times(2, 5);
        case fault_kind::stop_master:
        case fault_kind::stop_replica:
        case fault_kind::orphan_slot: return lease_times(1, 6);
        case fault_kind::switch_master:
        case fault_kind::flush_scripts:
        case fault_kind::flush_all:
        case fault_kind::empty_member:
        case fault_kind::delete_key:
        case fault_kind::kill_connections:
        case fault_kind::reset_connections:
        case fault_kind::reset_around_command: return milliseconds(0);
        default: return lease_times(5, 20);
        }
    }

    testing::impl::generator random_;
    const plan_settings set_;
    std::vector<planned_fault> out_;
    std::vector<planned_fault> active_;
    std::vector<fault_kind> bag_;
};

} // namespace

const char* name_of(fault_kind kind) noexcept
{
    return kind_names[static_cast<std::size_t>(kind)];
}

bool at_server(fault_kind kind) noexcept
{
    return kind < fault_kind::stop_client;
}

bool loses_data(fault_kind kind, persistence how) noexcept
{
    switch (kind) {
    case fault_kind::kill_server: return how != persistence::always;
    case fault_kind::power_cut:
    case fault_kind::flush_all:
    case fault_kind::delete_key: return true;
    default: return false;
    }
}

std::vector<planned_fault> make_plan(std::uint64_t seed, const plan_settings& how)
{
    return planner(seed, how).run();
}

} // namespace leasehold::test::chaos
