#ifndef LEASEHOLD_TEST_CHAOS_REGISTER_HPP
#define LEASEHOLD_TEST_CHAOS_REGISTER_HPP

#include "chaos/record.hpp"
#include "support/resp_client.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// The data that a lock protects: a number per name in a store of its own, written under the lock
/// of that name. It rejects a fence older than the newest it has seen, and keeps every accepted
/// write, in order.
class fenced_register
{
public:
    /// @param fenced False: the register checks no fence, as a store that does not know locks.
    explicit fenced_register(const std::string& socket, bool fenced = true);

    /// The number, which is 0 at first; empty: the read is rejected.
    std::optional<std::int64_t> read(const std::string& name, std::uint64_t fence);

    /// False: the write is rejected.
    bool put(const std::string& name, const write& written);

    /// All accepted writes, in order.
    std::vector<write> writes(const std::string& name);

private:
    resp_client store_;
    const std::string fenced_;
};

} // namespace leasehold::test::chaos

#endif
