#ifndef LEASEHOLD_SRC_REDIS_PREFIXED_STORE_HPP
#define LEASEHOLD_SRC_REDIS_PREFIXED_STORE_HPP

#include <leasehold/store.hpp>

#include <memory>
#include <string_view>

namespace leasehold::redis_store {

/// Returns `keys` if the prefix is empty. Otherwise, a store that puts the prefix before each name
/// that it passes to `keys`, and removes it from each name that `keys` reports: requests on one
/// side have names, on the other side the keys of locks.
[[nodiscard]] std::shared_ptr<store> with_prefix(std::string_view prefix,
                                                 std::shared_ptr<store> keys);

} // namespace leasehold::redis_store

#endif
