#ifndef LEASEHOLD_SRC_MEMORY_MEMORY_URL_HPP
#define LEASEHOLD_SRC_MEMORY_MEMORY_URL_HPP

#include <leasehold/store.hpp>

#include <memory>
#include <string_view>

namespace leasehold::detail {

/// The store of a URL `memory:[name][?fence_retention=…]`.
/// @throws boost::system::system_error `errc::invalid_url`
[[nodiscard]] std::shared_ptr<store> make_memory_store_of(std::string_view url);

} // namespace leasehold::detail

#endif
