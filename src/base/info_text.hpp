#ifndef LEASEHOLD_SRC_BASE_INFO_TEXT_HPP
#define LEASEHOLD_SRC_BASE_INFO_TEXT_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/detail/export.hpp>

#include <string>
#include <string_view>

namespace leasehold::detail {

/// "host=web-3&program=orders&pid=4711&since=1790000000000&version=0.2.0", percent-encoded: the
/// description of a client in a store that has texts only. ASCII, which every encoding has.
[[nodiscard]] LEASEHOLD_EXPORT std::string text_of(const client_info& info);

/// Reads it. Unknown and malformed parts are ignored.
[[nodiscard]] LEASEHOLD_EXPORT client_info read_info(std::string_view text);

} // namespace leasehold::detail

#endif
