#include "url_option.hpp"

#include <cstdlib>
#include <string_view>

namespace leasehold::tool {

void declare_url(command_line& options, std::string& url)
{
    const char* const given = std::getenv("LEASEHOLD_URL");
    url = given == nullptr || *given == '\0' ? "redis://127.0.0.1:6379" : given;
    options.value("--url", "URL",
                  "The store of the locks (default: LEASEHOLD_URL from the\n"
                  "environment, else redis://127.0.0.1:6379). Users who can list\n"
                  "processes see a password in it, but not in the environment.",
                  [&url](std::string_view value) { url = value; });
}

redis_config read_url(const std::string& url)
{
    if (url.starts_with("memory:"))
        throw usage_error("the URL is '" + url +
                          "'; memory: keeps the locks in this process, and no other process sees "
                          "them; allowed: the URL of a server");
    return redis_config(url);
}

} // namespace leasehold::tool
