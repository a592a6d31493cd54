#include "lock_sweep.hpp"

#include "failures.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace leasehold::tool {

lock_list lock_sweep::next(servers& where, std::chrono::nanoseconds limit)
{
    lock_reader reader(where);
    lock_list all = reader.read_again(known_);
    if (!all.complete) {
        scan_.reset(); // a server that is back may be another one, where the cursor has no meaning
        return all;
    }
    std::set<std::string> names;
    for (const lock_state& each : all.locks)
        names.insert(each.name);
    const auto end = std::chrono::steady_clock::now() + limit;
    if (!scan_)
        begin(where, 0, key_scan::type::string);
    bool goes_on = true;
    do {
        try {
            lock_list found = reader.read_page(*scan_, names);
            for (const lock_state& each : found.locks)
                names.insert(each.name);
            std::move(found.locks.begin(), found.locks.end(), std::back_inserter(all.locks));
        }
        catch (const unreachable& failed) {
            // The other members are enough.
            if (!where.is_quorum()) {
                scan_.reset();
                throw;
            }
            all.problems.emplace_back(failed.what());
            scan_->end();
        }
        goes_on = advance(where);
    } while (goes_on && std::chrono::steady_clock::now() < end);
    std::sort(
        all.locks.begin(), all.locks.end(),
        [](const lock_state& left, const lock_state& right) { return left.name < right.name; });
    known_ = all.locks;
    return all;
}

bool lock_sweep::advance(const servers& where)
{
    if (!scan_->done())
        return true;
    const bool again = scan_->of() == key_scan::type::string && !where.is_quorum();
    const std::size_t place = again ? scan_->place() : scan_->place() + 1;
    if (place >= where.size()) {
        scan_.reset();
        return false;
    }
    begin(where, place, again ? key_scan::type::hash : key_scan::type::string);
    return true;
}

void lock_sweep::begin(const servers& where, std::size_t place, key_scan::type of)
{
    scan_.emplace(place, where.where().prefix + pattern_, of);
}

} // namespace leasehold::tool
