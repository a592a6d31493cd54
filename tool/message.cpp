#include "message.hpp"

#include <new>
#include <string>
#include <unistd.h>

namespace leasehold::tool {

void say(std::string_view text) noexcept
try {
    const std::string line = std::string("leasehold: ").append(text).append("\n");
    // An error of this write cannot be reported anywhere.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}
catch (const std::bad_alloc&) {
}

} // namespace leasehold::tool
