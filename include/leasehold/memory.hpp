#ifndef LEASEHOLD_MEMORY_HPP
#define LEASEHOLD_MEMORY_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <string_view>

namespace leasehold {

/// What several memory stores share: the locks of one pretended server. Thread-safe.
/// For unit tests it can also be interfered with, as an operator would with a real server.
class LEASEHOLD_EXPORT memory_space
{
public:
    /// How long a fence counter outlives its last grant: a name costs some 260 bytes until then.
    static constexpr std::chrono::milliseconds default_retention = std::chrono::hours(24);

    /// @param fence_retention `config::forever` (0) for counters that never expire.
    explicit memory_space(std::chrono::milliseconds fence_retention = default_retention);
    ~memory_space();
    memory_space(const memory_space&) = delete;
    memory_space& operator=(const memory_space&) = delete;

    /// The space of this process that has that name; made at first use, kept while a client uses
    /// it. Its retention is the longest that any of them asked for.
    [[nodiscard]] static std::shared_ptr<memory_space> shared(
        std::string_view name = {}, std::chrono::milliseconds fence_retention = default_retention);

    /// Deletes a lock, as `DEL` would: its holder loses it, nobody is told. False when there was
    /// none.
    bool erase(std::string_view name);

    /// Deletes all locks and fence counters, as `FLUSHALL` would.
    void clear();

    /// How many locks are held now.
    [[nodiscard]] std::size_t size() const;

    /// For the library itself.
    struct state;
    /// For the library itself.
    [[nodiscard]] state& get() const noexcept { return *state_; }

private:
    std::unique_ptr<state> state_;
};

/// A store in this process, with the semantics of a server: leases expire, fences rise, releases
/// wake those who wait.
/// @param space The locks to work on; those of the process by default.
[[nodiscard]] LEASEHOLD_EXPORT std::shared_ptr<store> make_memory_store(
    std::shared_ptr<memory_space> space = memory_space::shared());

} // namespace leasehold

#endif
