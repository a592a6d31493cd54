#include "redis/commands/native_keys.hpp"

#include "redis/protocol/slot.hpp"

#include <algorithm>

namespace leasehold::redis_store::native {
namespace {

bool is_brace(char c) noexcept
{
    return c == '{' || c == '}';
}

// Appends `prefix`, which ends with a brace, and `name}`. A name with braces becomes `tag}:name`,
// so that "a" and "{a}" have different keys. If Redis finds no tag in a name with braces, it hashes
// the whole name. The tag is then a number with the same slot.
void append_tagged(std::string_view prefix, std::string_view name, std::string& out)
{
    out += prefix;
    if (std::none_of(name.begin(), name.end(), is_brace)) {
        out += name;
        out += '}';
        return;
    }
    if (const std::string_view tag = hash_tag(name); !tag.empty())
        out += tag;
    else
        append_short_tag(slot_of(name), out);
    out += "}:";
    out += name;
}

void tagged(std::string_view prefix, std::string_view name, std::string& out)
{
    out.clear();
    append_tagged(prefix, name, out);
}

constexpr std::string_view entries_prefix = "leasehold:entries:{";

} // namespace

void queue_key(std::string_view name, std::string& out)
{
    tagged("leasehold:line:{", name, out);
}

void waiters_key(std::string_view name, std::string& out)
{
    tagged("leasehold:waiters:{", name, out);
}

void entries_key(std::string_view name, std::string& out)
{
    tagged(entries_prefix, name, out);
}

void append_entries_key(std::string_view name, std::string& out)
{
    append_tagged(entries_prefix, name, out);
}

void fence_key_in(slot_number slot, std::string& out)
{
    out.assign(fence_key);
    out += ":{";
    append_short_tag(slot, out);
    out += '}';
}

void value_of(std::string_view owner, std::string& out)
{
    out.clear();
    append_value_of(owner, out);
}

void append_value_of(std::string_view owner, std::string& out)
{
    out += mark;
    out += owner;
}

void value_of(std::string_view owner, std::chrono::milliseconds grace, std::string& out)
{
    value_of(owner, out);
    if (grace.count() != 0)
        out.append("|g").append(std::to_string(grace.count()));
}

void alive_key(std::string_view client, std::string& out)
{
    out.assign("leasehold:alive:");
    out += client;
}

std::string_view owner_of(std::string_view value) noexcept
{
    if (!value.starts_with(mark))
        return {};
    value.remove_prefix(mark.size());
    return value.substr(0, value.find('|'));
}

std::string_view client_of(std::string_view owner) noexcept
{
    return owner.substr(0, owner.rfind(':'));
}

void grant_channel(std::string_view client, std::string& out)
{
    out.assign("leasehold:turn:");
    out += client;
}

void grant_channel_in(slot_number slot, std::string_view client, std::string& out)
{
    out.assign("leasehold:turn:{");
    append_short_tag(slot, out);
    out += "}:";
    out += client;
}

} // namespace leasehold::redis_store::native
