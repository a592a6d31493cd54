#ifndef LEASEHOLD_TEST_CHAOS_REGISTER_HPP
#define LEASEHOLD_TEST_CHAOS_REGISTER_HPP

#include "chaos/record.hpp"
#include "support/resp_client.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A number per name in a store of its own, written under the lock of that name: what the lock
/// protects. It refuses whoever has an older fence than the newest it has seen, and keeps every
/// write that it took, in order.
class fenced_register
{
public:
    /// @param fenced False: it looks at no fence, as a store that knows nothing of locks.
    explicit fenced_register(const std::string& socket, bool fenced = true);

    /// The number, 0 at first; empty when it refuses.
    std::optional<std::int64_t> read(const std::string& name, std::uint64_t fence);

    /// False when it refuses.
    bool put(const std::string& name, const write& written);

    /// Everything it took, in order.
    std::vector<write> writes(const std::string& name);

private:
    resp_client store_;
    const std::string fenced_;
};

} // namespace leasehold::test::chaos

#endif
