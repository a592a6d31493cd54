#ifndef LEASEHOLD_SRC_TESTING_LINE_ORDER_HPP
#define LEASEHOLD_SRC_TESTING_LINE_ORDER_HPP

#include "testing/keyspace.hpp"
#include "testing/lock_request.hpp"

#include <string>
#include <string_view>

namespace leasehold::testing::impl {

/// The line of a name, and who has the lock, as they were before a request, to be compared with
/// what the request has made of them. Of the layout `native`.
class line_order
{
public:
    line_order(keyspace& of, std::string_view name);

    /// Throws `std::logic_error` when the line is none any more: somebody is in it twice, or not
    /// where he was, or in one of its two keys alone.
    /// @returns Whom the lock was given to although another was the first in line; or nobody.
    [[nodiscard]] std::string overtaker(const lock_request& asked) const;

private:
    [[nodiscard]] keyspace::items line() const;
    [[nodiscard]] std::string holder() const;

    keyspace& data_;
    const std::string name_;
    std::string line_key_;
    std::string waiters_key_;
    keyspace::items line_before_;
    std::string holder_before_;
};

} // namespace leasehold::testing::impl

#endif
