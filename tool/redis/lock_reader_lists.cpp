// Lists of locks. The other parts of lock_reader read some locks.
#include "lock_reader.hpp"

#include "failures.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;

} // namespace

/// A client registers at each member, but some members may have lost the record.
void lock_reader::describe_by_members(std::vector<lock_state>& locks,
                                      const std::vector<std::size_t>& places,
                                      std::vector<std::string>& problems)
{
    for (const std::size_t place : places) {
        try {
            describe(member(place), locks);
        }
        catch (const unreachable& failed) {
            problems.emplace_back(failed.what());
        }
    }
}

// No character of a prefix is special in a pattern.
lock_list lock_reader::list(const std::string& pattern)
{
    refusals_.clear();
    const std::string keys = servers_.where().prefix + pattern;
    lock_list all;
    servers_.is_quorum() ? list_quorum(keys, all) : list_keys(keys, all);
    return finished(std::move(all));
}

lock_list lock_reader::read_again(const std::vector<lock_state>& known)
{
    refusals_.clear();
    lock_list all;
    std::vector<lock_state> keys;
    for (const lock_state& each : known)
        keys.emplace_back(each).name = servers_.where().prefix + each.name;
    servers_.is_quorum() ? read_at_members(keys, all) : read_keys(keys, all);
    return finished(std::move(all));
}

lock_list lock_reader::read_page(key_scan& from, const std::set<std::string>& known)
{
    refusals_.clear();
    lock_list all;
    std::vector<lock_state> found;
    read_page(from, found, [&](const std::string& key) { return known.count(name_of(key)) == 0; });
    if (servers_.is_quorum()) {
        if (!found.empty())
            read_at_members(found, all);
    }
    else {
        describe(all_of_them(), found);
        all.locks = std::move(found);
    }
    return finished(std::move(all));
}

/// Completes a list of keys.
lock_list lock_reader::finished(lock_list of) const
{
    report_refusals(of);
    std::sort(
        of.locks.begin(), of.locks.end(),
        [](const lock_state& left, const lock_state& right) { return left.name < right.name; });
    for (lock_state& each : of.locks)
        each.name = name_of(each.name);
    return of;
}

void lock_reader::read_page(key_scan& from, std::vector<lock_state>& to,
                            const std::function<bool(const std::string&)>& is_wanted)
{
    std::vector<std::string> keys;
    for (std::string& each : from.next(servers_)) {
        if (!is_reserved(name_of(each)) && is_wanted(each))
            keys.push_back(std::move(each));
    }
    if (keys.empty())
        return;
    if (servers_.is_quorum())
        read_strings(member(from.place()), keys, to);
    else if (from.of() == key_scan::type::string)
        read_strings(all_of_them(), keys, to);
    else
        read_hashes(all_of_them(), keys, to);
}

void lock_reader::list_keys(const std::string& pattern, lock_list& all)
{
    std::set<std::string> seen; // a scan may return a key twice
    const auto is_new = [&](const std::string& key) { return seen.insert(key).second; };
    const std::size_t count = servers_.size();
    for (std::size_t place = 0; place < count; ++place) {
        read_or_report(all.problems, [&] {
            for (const auto type : {key_scan::type::string, key_scan::type::hash}) {
                for (key_scan keys(place, pattern, type); !keys.done();)
                    read_page(keys, all.locks, is_new);
            }
        });
    }
    read_or_report(all.problems, [&] { describe(all_of_them(), all.locks); });
    all.complete = all.problems.empty();
}

void lock_reader::read_keys(const std::vector<lock_state>& known, lock_list& all)
{
    std::map<std::size_t, std::vector<const lock_state*>> by_place;
    for (const lock_state& each : known)
        read_or_report(all.problems,
                       [&] { by_place[servers_.place_of(each.name)].push_back(&each); });
    for (const auto& [place, locks] : by_place) {
        std::vector<std::string> strings, hashes;
        for (const lock_state* each : locks)
            (each->kind == lock_kind::redisson ? hashes : strings).push_back(each->name);
        read_or_report(all.problems, [&] {
            read_in_parts(strings, [&](const std::vector<std::string>& some) {
                read_strings(all_of_them(), some, all.locks);
            });
            read_in_parts(hashes, [&](const std::vector<std::string>& some) {
                read_hashes(all_of_them(), some, all.locks);
            });
        });
    }
    keep_details(known, all.locks);
    read_or_report(all.problems, [&] { describe(all_of_them(), all.locks); });
    all.complete = all.problems.empty();
}

/// Calls `read` with a limited number of keys at once.
void lock_reader::read_in_parts(const std::vector<std::string>& keys,
                                const std::function<void(const std::vector<std::string>&)>& read)
{
    constexpr std::size_t most_keys = 500;
    for (std::size_t first = 0; first < keys.size(); first += most_keys) {
        const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = keys.begin() +
                         static_cast<std::ptrdiff_t>(std::min(first + most_keys, keys.size()));
        read({begin, end});
    }
}

/// The details of a client do not change.
void lock_reader::keep_details(const std::vector<lock_state>& known, std::vector<lock_state>& to)
{
    std::map<std::string, const client_info*> details;
    for (const lock_state& each : known)
        details.emplace(each.client, &each.info);
    for (lock_state& each : to) {
        if (const auto found = details.find(each.client); found != details.end())
            each.info = *found->second;
    }
}

std::size_t lock_reader::quorum() const
{
    return servers_.where().quorum != 0 ? servers_.where().quorum : servers_.size() / 2 + 1;
}

void lock_reader::list_quorum(const std::string& pattern, lock_list& all)
{
    at_members(all, {}, [&](std::size_t place, std::vector<lock_state>& found) {
        for (key_scan keys(place, pattern, key_scan::type::string); !keys.done();)
            read_page(keys, found, [](const std::string&) { return true; });
    });
}

void lock_reader::read_at_members(const std::vector<lock_state>& known, lock_list& all)
{
    std::vector<std::string> keys;
    for (const lock_state& each : known)
        keys.push_back(each.name);
    at_members(all, known, [&](std::size_t place, std::vector<lock_state>& found) {
        // Even without keys this shows if the member can be reached.
        static_cast<void>(servers_.connection(place));
        read_in_parts(keys, [&](const std::vector<std::string>& some) {
            read_strings(member(place), some, found);
        });
    });
}

/// Reads locks at each member, and merges them.
void lock_reader::at_members(
    lock_list& all, const std::vector<lock_state>& known,
    const std::function<void(std::size_t place, std::vector<lock_state>& found)>& read)
{
    std::vector<std::vector<lock_state>> seen;
    std::vector<std::size_t> there;
    for (std::size_t place = 0; place < servers_.size(); ++place) {
        std::vector<lock_state> found;
        if (!read_or_report(all.problems, [&] { read(place, found); }))
            continue;
        seen.push_back(std::move(found));
        there.push_back(place);
    }
    all.complete = seen.size() >= quorum();
    all.locks = merge(seen);
    keep_details(known, all.locks);
    describe_by_members(all.locks, there, all.problems);
}

/// Returns, for each name, the owner that most members have.
std::vector<lock_state> lock_reader::merge(const std::vector<std::vector<lock_state>>& seen)
{
    struct votes
    {
        lock_state lock;
        std::vector<milliseconds> lives;
    };
    std::map<std::string, std::map<std::string, votes>> by_owner;
    for (const auto& of_member : seen) {
        std::set<std::string> names; // SCAN may name a key twice
        for (const lock_state& lock : of_member) {
            if (!names.insert(lock.name).second || lock.kind != lock_kind::quorum)
                continue;
            votes& all = by_owner[lock.name][lock.owner];
            const std::size_t waiters = std::max(all.lock.waiters, lock.waiters);
            const auto fence = std::max(all.lock.fence_at_most, lock.fence_at_most);
            all.lock = lock;
            all.lock.waiters = waiters;
            all.lock.fence_at_most = fence;
            all.lives.push_back(lock.left.value_or(milliseconds::max()));
        }
    }
    std::vector<lock_state> merged;
    for (auto& [name, owners] : by_owner) {
        auto best = owners.begin();
        for (auto each = owners.begin(); each != owners.end(); ++each) {
            if (each->second.lives.size() > best->second.lives.size())
                best = each;
        }
        auto& [lock, lives] = best->second;
        lock.members = lives.size();
        lock.of = servers_.size();
        // The lock is held while a quorum of the members has it.
        std::sort(lives.rbegin(), lives.rend());
        lock.left = lives[std::min(quorum(), lives.size()) - 1];
        merged.push_back(std::move(lock));
    }
    return merged;
}

} // namespace leasehold::tool
