#include "redis/protocol/key_names.hpp"

namespace leasehold::redis_store {
namespace {

// All keys of a lock share its hash tag. A name that contains a brace has its own; Redisson
// requires the same.
void prefixed(std::string_view prefix, std::string_view name, std::string& out)
{
    const bool tagged = name.find('{') != std::string_view::npos;
    out.assign(prefix);
    out += tagged ? ":" : ":{";
    out += name;
    if (!tagged)
        out += '}';
}

} // namespace

void client_key(std::string_view prefix, std::string_view client, std::string& out)
{
    out.assign(prefix);
    out += "leasehold:client:";
    out += client;
}

void fence_key(std::string_view name, std::string& out)
{
    prefixed("redisson_lock_token", name, out);
}

void release_channel(std::string_view name, std::string& out)
{
    prefixed("redisson_lock__channel", name, out);
}

std::string entry_field(std::string_view owner, std::string_view entry)
{
    std::string field(owner);
    field += '/';
    field += entry;
    return field;
}

} // namespace leasehold::redis_store
