#include "base/argument_error.hpp"

#include "base/printable.hpp"

#include <boost/system/system_error.hpp>

#include <string>

namespace leasehold::detail {

void throw_argument_error(errc kind, std::string_view argument, std::string_view was,
                          std::string_view allowed)
{
    std::string text(argument);
    text.append(": ").append(was).append("; allowed: ").append(allowed);
    throw boost::system::system_error(make_error_code(kind), printable(text));
}

} // namespace leasehold::detail
