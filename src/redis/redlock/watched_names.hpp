#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_WATCHED_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_WATCHED_NAMES_HPP

#include "redis/redlock/release_merge.hpp"

#include <leasehold/clock.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::quorum {

/// The names whose releases are watched, and when their releases are reported.
class watched_names
{
public:
    /// Whether it was not watched before.
    bool add(std::string_view name) { return names_.try_emplace(std::string(name)).second; }
    /// Whether it was watched.
    bool remove(std::string_view name);
    [[nodiscard]] bool contains(std::string_view name) const { return names_.contains(name); }

    // Reports of one member, as in `release_merge`. The result: whether to report the name now.

    bool watching(unsigned member, std::string_view name, mask needed, clock::time_point now);
    bool released(unsigned member, std::string_view name, std::string_view sign, unsigned enough,
                  clock::time_point now);
    void unsubscribed(unsigned member, unsigned majority) noexcept;

    /// The time of the next call of `due`.
    [[nodiscard]] clock::time_point next() const noexcept { return next_; }
    /// The names to be reported now.
    std::vector<std::string> due(clock::time_point now, unsigned majority);

private:
    struct watched
    {
        release_merge merged;
        clock::time_point due = clock::time_point::max();
    };

    bool take(watched& of, release_merge::report what, clock::time_point latest) noexcept;

    std::map<std::string, watched, std::less<>> names_;
    clock::time_point next_ = clock::time_point::max();
};

} // namespace leasehold::quorum

#endif
