#ifndef LEASEHOLD_SRC_BASE_ARGUMENT_ERROR_HPP
#define LEASEHOLD_SRC_BASE_ARGUMENT_ERROR_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <string_view>

namespace leasehold::detail {

/// Throws an error that names the invalid argument, its value, and the allowed values.
/// @throws boost::system::system_error
[[noreturn]] LEASEHOLD_EXPORT void throw_argument_error(errc kind, std::string_view argument,
                                                        std::string_view was,
                                                        std::string_view allowed);

} // namespace leasehold::detail

#endif
