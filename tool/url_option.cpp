#include "url_option.hpp"

#include <cstdlib>
#include <string_view>

namespace leasehold::tool {

void declare_url(command_line& options, std::string& url)
{
    const char* const given = std::getenv("LEASEHOLD_URL");
    url = given == nullptr || *given == '\0' ? "redis://127.0.0.1:6379" : given;
    options.value("--url", "URL",
                  "Where the locks are kept (default: LEASEHOLD_URL from the\n"
                  "environment, else redis://127.0.0.1:6379). A password in it is\n"
                  "seen by all who can list processes; in the environment it is not.",
                  [&url](std::string_view value) { url = value; });
}

config read_url(const std::string& url)
{
    config where(url);
    where.validate();
    if (where.store == config::kind::memory)
        throw usage_error("the URL is '" + url +
                          "'; locks in the memory of this process keep no other process out, and "
                          "no other sees them");
    return where;
}

} // namespace leasehold::tool
