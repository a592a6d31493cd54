#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_PARTIAL_LOCKS_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_PARTIAL_LOCKS_HPP

#include "fsm/quorum/quorum_size.hpp"
#include "redis/redlock/partial_lock.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::quorum {

/// The locks that some members are known to lack.
class partial_locks
{
public:
    using pointer = std::shared_ptr<partial_lock>;

    /// Null: there is none.
    [[nodiscard]] pointer find(std::string_view owner, std::string_view entry) const;
    pointer make(const renewal& what, const fsm::quorum_size& size, clock::time_point now);
    void forget(const partial_lock& lock) { locks_.erase({lock.owner, lock.entry}); }
    void clear() noexcept { locks_.clear(); }

    [[nodiscard]] auto begin() const noexcept { return locks_.begin(); }
    [[nodiscard]] auto end() const noexcept { return locks_.end(); }

private:
    std::map<std::pair<std::string, std::string>, pointer> locks_; ///< By owner and entry.
    std::size_t limit_ = 0; ///< The size at which ended ones are removed.
};

} // namespace leasehold::quorum

#endif
