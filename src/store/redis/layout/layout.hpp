#ifndef LEASEHOLD_SRC_STORE_REDIS_LAYOUT_LAYOUT_HPP
#define LEASEHOLD_SRC_STORE_REDIS_LAYOUT_LAYOUT_HPP

#include "store/redis/protocol/reply.hpp"
#include "store/redis/protocol/script.hpp"

#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace leasehold::redis_store {

/// What one request has become, and what the server is to answer. An answer of another form belongs
/// to something else, and what comes after it may as well: it ends the connection.
struct call
{
    const script* called = nullptr; ///< May be missing on the server, and is then sent as text.
    std::size_t expects = 0;        ///< How many numbers its script answers with.
};

/// What the answer to a call says. With an error nothing is known but that.
template <class Reply>
struct said
{
    error_code code;
    Reply reply;
    std::optional<std::int64_t> server_us{}; ///< The time at the server.
    bool holder_hidden = false;              ///< This user may not look who holds a lock.
};

/// How a lock is kept in keys, and what is said to the server of it. Requests are checked before.
/// All on the strand; keeps memory for the next.
class layout
{
public:
    layout() = default;
    layout(const layout&) = delete;
    layout& operator=(const layout&) = delete;
    virtual ~layout() = default;

    /// What the store can do with it.
    [[nodiscard]] virtual store_traits traits() const noexcept = 0;

    // These write one call at the end of `to`.
    /// @param latest The server's time until which it may be granted, in microseconds; 0: any.
    virtual call acquire(const acquire_request& asked, std::int64_t latest,
                         boost::redis::request& to) = 0;
    virtual call renew(std::span<const renewal> asked, boost::redis::request& to) = 0;
    virtual call release(const release_request& asked, boost::redis::request& to) = 0;

    // These read an answer without an error.
    /// @param fences As many were asked for; 0: it was a re-entry.
    [[nodiscard]] virtual said<acquire_reply> acquired(const reply& answer,
                                                       std::uint32_t fences) const = 0;
    /// One result for each of `results`; an error when the answer says nothing of them.
    [[nodiscard]] virtual error_code renewed(const reply& answer,
                                             std::span<renewal_result> results) const = 0;
    [[nodiscard]] virtual said<release_reply> released(const reply& answer) const = 0;
};

} // namespace leasehold::redis_store

#endif
