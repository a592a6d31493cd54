#ifndef LEASEHOLD_TEST_SUPPORT_QUEUED_REQUEST_HPP
#define LEASEHOLD_TEST_SUPPORT_QUEUED_REQUEST_HPP

#include <leasehold/store.hpp>

#include <chrono>
#include <string_view>

namespace leasehold::test {

/// A request for one fence that waits in the queue, if the store has one. It refers to both texts.
inline acquire_request queued_request(std::string_view name, std::string_view owner)
{
    using namespace std::chrono_literals;
    return {.name = name,
            .owner = owner,
            .entry = {},
            .lease = 10s,
            .fences = 1,
            .budget = 5s,
            .waits = true,
            .presence = 10s,
            .claim = 1s};
}

} // namespace leasehold::test

#endif
