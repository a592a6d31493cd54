#include "memory/memory_url.hpp"

#include "base/fence_retention.hpp"
#include "base/url.hpp"

#include <leasehold/memory.hpp>

#include <string>

namespace leasehold::detail {

std::shared_ptr<store> make_memory_store_of(std::string_view url)
{
    const url_parts parts = split_url(url);
    if (parts.has_authority)
        refuse_url("URL with scheme memory: has a '//', must be memory: and a name");
    const std::string name = decode_url(parts.path, "name");
    fence_retention retention = memory_space::default_retention;
    each_parameter(parts.query, [&](const std::string& parameter, const std::string& value) {
        if (parameter != "fence_retention")
            refuse_url("parameter", parameter, "fence_retention");
        retention = read_fence_retention(value);
    });
    return make_memory_store(memory_space::shared(name, retention));
}

} // namespace leasehold::detail
