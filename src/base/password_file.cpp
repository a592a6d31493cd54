#include "base/password_file.hpp"

#include "base/printable.hpp"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace leasehold::detail {
namespace {

// Tokens are shorter.
constexpr std::size_t longest_file = 64 * 1024;

[[noreturn]] void refuse_password_file(const std::string& field, const std::string& file,
                                       const std::string& problem)
{
    throw std::runtime_error(printable(field + " '" + file + "' " + problem));
}

} // namespace

std::string read_password_file(const std::string& field, const std::string& file)
{
    errno = 0;
    std::ifstream from(file, std::ios::binary);
    std::string text(longest_file + 1, '\0');
    from.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!from.is_open() || from.bad())
        refuse_password_file(field, file,
                             "cannot be read: " + std::generic_category().message(errno));
    text.resize(static_cast<std::size_t>(from.gcount()));
    if (text.size() > longest_file)
        refuse_password_file(field, file, "is too large, must have 64 KiB at most");
    if (text.ends_with('\n'))
        text.pop_back();
    if (text.ends_with('\r'))
        text.pop_back();
    if (text.empty())
        refuse_password_file(field, file, "is empty, must contain a password");
    return text;
}

} // namespace leasehold::detail
