#ifndef LEASEHOLD_OWNER_HPP
#define LEASEHOLD_OWNER_HPP

#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold {

/// The identity under which a lock is held: a token for reentrant acquisition in any process.
///
/// A bearer token: every program that has it may acquire the lock reentrantly. Keep it secret.
/// @par Threads
/// A value type. Distinct objects may be used concurrently.
class owner
{
public:
    /// No owner. `mutex::with_owner` rejects it.
    owner() = default;

    /// Parses the result of `to_string`.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` gives the format.
    LEASEHOLD_EXPORT static owner from_string(std::string_view text);

    /// `<uuid>:<number>#<fence>`: printable ASCII without spaces, at most 80 characters. Empty if
    /// there is no owner.
    [[nodiscard]] LEASEHOLD_EXPORT std::string to_string() const;

    /// The identity in the store, `<uuid>:<number>`.
    [[nodiscard]] const std::string& id() const noexcept { return id_; }

    /// The fence of the lease that this owner was taken from.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// Whether there is no owner.
    [[nodiscard]] bool empty() const noexcept { return id_.empty(); }

    /// An owner with this identity and fence, for stores and tests. The arguments are not checked.
    /// `mutex::with_owner` rejects an identity of more than 57 bytes.
    owner(std::string id, std::uint64_t fence) : id_(static_cast<std::string&&>(id)), fence_(fence)
    {}

    /// Compares identity and fence.
    friend bool operator==(const owner&, const owner&) = default;

private:
    std::string id_;
    std::uint64_t fence_ = 0;
};

} // namespace leasehold

#endif
