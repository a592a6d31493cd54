#ifndef LEASEHOLD_SRC_TESTING_SERVER_MEMBERSHIP_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_MEMBERSHIP_HPP

#include "testing/server/lock_request.hpp"
#include "testing/server/message.hpp"
#include "testing/server/verbs.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {

/// The knowledge of a server about its cluster.
class membership
{
public:
    /// Why it does not run a command; nothing: it does.
    /// @param asking The command before this one was ASKING.
    [[nodiscard]] virtual std::optional<std::string> refusal(words command, bool asking) = 0;

    /// To CLUSTER.
    /// @param client The sender.
    [[nodiscard]] virtual message answer(words command, std::string_view client) = 0;

    /// A request has arrived.
    /// @param runs False: it is rejected, and may arrive again elsewhere.
    virtual void follow(const lock_request& request, bool runs) = 0;

    /// It has published this to its subscribers; the other nodes of its shard do, too.
    virtual void spread(std::string_view channel, std::string_view text) = 0;

    /// The server process restarts.
    virtual void restarted() = 0;

    /// Some keys of a name may be elsewhere.
    [[nodiscard]] virtual bool is_moving(std::string_view name) const = 0;

protected:
    ~membership() = default;
};

} // namespace leasehold::testing::impl

#endif
