#ifndef LEASEHOLD_OWNER_HPP
#define LEASEHOLD_OWNER_HPP

#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold {

/// The owner of a lock, as a token for reentrant acquisition, also in another process.
///
/// A bearer token: whoever presents it may acquire the same lock reentrantly. Send it only to those
/// who may.
/// @par Threads
/// A value: as safe as an `int`.
class owner
{
public:
    /// No owner. The overloads of `mutex` that take an owner throw `errc::invalid_option` for it.
    owner() = default;

    /// Reads the text that `to_string` made.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` says what is expected.
    LEASEHOLD_EXPORT static owner from_string(std::string_view text);

    /// `<uuid>:<number>#<fence>`: printable ASCII without spaces, at most 80 characters. Empty for
    /// nobody.
    [[nodiscard]] LEASEHOLD_EXPORT std::string to_string() const;

    /// The identity as it is kept in the store, `<uuid>:<number>`.
    [[nodiscard]] const std::string& id() const noexcept { return id_; }

    /// The fence of the lease that gave this owner out.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// Whether this is no owner.
    [[nodiscard]] bool empty() const noexcept { return id_.empty(); }

    /// An owner with this identity and fence; for stores and tests. No check is made;
    /// what has an identity of more than 57 bytes is no owner to the overloads of `mutex`.
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
