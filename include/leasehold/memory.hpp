#ifndef LEASEHOLD_MEMORY_HPP
#define LEASEHOLD_MEMORY_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <string_view>

namespace leasehold {

/// The locks of one simulated server, shared by several memory stores. Thread-safe. Unit tests can
/// change it, as an operator changes a real server.
class LEASEHOLD_EXPORT memory_space
{
public:
    /// Time for which a fence counter is kept after its last grant. It takes 244 bytes.
    static constexpr std::chrono::milliseconds default_retention = std::chrono::hours(24);

    /// @param fence_retention 0: the counters never expire.
    explicit memory_space(std::chrono::milliseconds fence_retention = default_retention);
    ~memory_space();
    memory_space(const memory_space&) = delete;
    memory_space& operator=(const memory_space&) = delete;

    /// Returns the space of this process with that name. It is created at first use and kept while
    /// a client uses it. Its retention is the longest that was requested.
    [[nodiscard]] static std::shared_ptr<memory_space> shared(
        std::string_view name = {}, std::chrono::milliseconds fence_retention = default_retention);

    /// Deletes a lock, as `DEL` does: its holder loses it, and waiters get no wake-up. Returns
    /// false if there was none.
    bool erase(std::string_view name);

    /// Deletes all locks and fence counters, as `FLUSHALL` does.
    void clear();

    /// The number of locks that are held now.
    [[nodiscard]] std::size_t size() const;

    /// For the library itself.
    struct state;
    /// For the library itself.
    [[nodiscard]] state& get() const noexcept { return *state_; }

private:
    std::unique_ptr<state> state_;
};

/// Makes a store in this process, with the semantics of a server: leases expire, fences rise, and
/// releases wake waiters.
/// @param space The locks. Default: those of the process.
[[nodiscard]] LEASEHOLD_EXPORT std::shared_ptr<store> make_memory_store(
    std::shared_ptr<memory_space> space = memory_space::shared());

} // namespace leasehold

#endif
