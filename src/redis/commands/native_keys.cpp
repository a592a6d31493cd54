#include "redis/commands/native_keys.hpp"

#include "redis/protocol/slot.hpp"

#include <algorithm>

namespace leasehold::redis_store {
namespace {

constexpr std::string_view fence_name = "fence";

bool is_brace(char c) noexcept
{
    return c == '{' || c == '}';
}

} // namespace

native_keys::native_keys() : native_keys(std::string_view()) {}

native_keys::native_keys(std::string_view prefix) : fence_(prefix)
{
    fence_.append("leasehold:").append(fence_name);
}

std::string_view native_keys::fence() const noexcept
{
    return fence_;
}

std::string_view native_keys::root() const noexcept
{
    return fence().substr(0, fence_.size() - fence_name.size());
}

// Appends `kind`, which ends with a brace, and `name}`. A name with braces becomes `tag}:name`, so
// that "a" and "{a}" have different keys. If Redis finds no tag in a name with braces, it hashes
// the whole name. The tag is then a number with the same slot.
void native_keys::append_tagged(std::string_view kind, std::string_view name,
                                std::string& out) const
{
    out += root();
    out += kind;
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

void native_keys::fence_in(slot_number slot, std::string& out) const
{
    out.assign(fence_);
    out += ":{";
    append_short_tag(slot, out);
    out += '}';
}

void native_keys::queue(std::string_view name, std::string& out) const
{
    out.clear();
    append_tagged("line:{", name, out);
}

void native_keys::waiters(std::string_view name, std::string& out) const
{
    out.clear();
    append_tagged("waiters:{", name, out);
}

void native_keys::entries(std::string_view name, std::string& out) const
{
    out.clear();
    append_entries(name, out);
}

void native_keys::append_entries(std::string_view name, std::string& out) const
{
    append_tagged("entries:{", name, out);
}

void native_keys::alive(std::string_view client, std::string& out) const
{
    out.assign(root());
    out += "alive:";
    out += client;
}

void native_keys::grants(std::string_view client, std::string& out) const
{
    out.assign(root());
    out += "turn:";
    out += client;
}

void native_keys::grants_in(slot_number slot, std::string_view client, std::string& out) const
{
    out.assign(root());
    out += "turn:{";
    append_short_tag(slot, out);
    out += "}:";
    out += client;
}

} // namespace leasehold::redis_store

namespace leasehold::redis_store::native {

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

} // namespace leasehold::redis_store::native
