#ifndef LEASEHOLD_SRC_BASE_PASSWORD_FILE_HPP
#define LEASEHOLD_SRC_BASE_PASSWORD_FILE_HPP

#include <leasehold/detail/export.hpp>

#include <string>

namespace leasehold::detail {

/// The content of a file with a password, without the line break at its end.
/// @param field The name of the option, for the error.
/// @throws std::runtime_error The file cannot be read, is too large, or has no password.
[[nodiscard]] LEASEHOLD_EXPORT std::string read_password_file(const std::string& field,
                                                              const std::string& file);

} // namespace leasehold::detail

#endif
