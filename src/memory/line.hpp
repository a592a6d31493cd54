#ifndef LEASEHOLD_SRC_MEMORY_LINE_HPP
#define LEASEHOLD_SRC_MEMORY_LINE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::memory {

/// A client that can be told of its turn; 0: none.
using client_id = std::uint64_t;

/// One who waits for a name.
struct waiter
{
    std::string owner;
    client_id client = 0;
    std::chrono::microseconds until{}; ///< Counts as there until then.
    std::chrono::milliseconds claim{}; ///< How long it has the lock for, until it confirms that.
};

/// Those who wait for one name, in order.
class line
{
public:
    [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }

    /// How many are before it; nothing when it is not in.
    [[nodiscard]] std::optional<std::size_t> place(std::string_view owner) const noexcept;

    /// Comes in at the end, or says again that it is there: its place stays.
    /// @returns How many are before it.
    std::size_t join(waiter who);

    /// False when it was not in.
    bool leave(std::string_view owner) noexcept;

    /// The first of whom `there(waiter)` is true, or null. Those before it are dropped: whoever
    /// lives joins again at its next look.
    template <class Predicate>
    [[nodiscard]] const waiter* first(Predicate there)
    {
        std::size_t gone = 0;
        while (gone != waiters_.size() && !there(waiters_[gone]))
            ++gone;
        waiters_.erase(waiters_.begin(), waiters_.begin() + static_cast<std::ptrdiff_t>(gone));
        return waiters_.empty() ? nullptr : &waiters_.front();
    }

private:
    // One entry for each client of a process: few.
    std::vector<waiter> waiters_;
};

} // namespace leasehold::memory

#endif
