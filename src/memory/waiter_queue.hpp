#ifndef LEASEHOLD_SRC_MEMORY_WAITER_QUEUE_HPP
#define LEASEHOLD_SRC_MEMORY_WAITER_QUEUE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::memory {

/// A client that can be notified of a grant; 0: none.
using client_id = std::uint64_t;

/// A waiter for a name.
struct waiter
{
    std::string owner;
    client_id client = 0;
    std::chrono::microseconds until{}; ///< End of its presence.
    std::chrono::milliseconds claim{}; ///< Time for which a grant is reserved until confirmed.
};

/// The waiters for one name, in order.
class waiter_queue
{
public:
    [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }

    /// The number of waiters before it; nothing if it is not in the queue.
    [[nodiscard]] std::optional<std::size_t> position(std::string_view owner) const noexcept;

    /// Adds it at the end, or extends its presence: it keeps its position.
    /// @returns The number of waiters before it.
    std::size_t join(waiter added);

    /// False if it was not in the queue.
    bool leave(std::string_view owner) noexcept;

    /// The first for which `present(waiter)` is true, or null. Those before it are removed: a
    /// waiter that still exists joins again with its next poll.
    template <class Predicate>
    [[nodiscard]] const waiter* first(Predicate present)
    {
        std::size_t gone = 0;
        while (gone != waiters_.size() && !present(waiters_[gone]))
            ++gone;
        waiters_.erase(waiters_.begin(), waiters_.begin() + static_cast<std::ptrdiff_t>(gone));
        return waiters_.empty() ? nullptr : &waiters_.front();
    }

private:
    // Small: one element for each client of a process.
    std::vector<waiter> waiters_;
};

} // namespace leasehold::memory

#endif
