#include "store/redis/layout/native_names.hpp"

namespace leasehold::redis_store::native {
namespace {

/// What Redis hashes of a name, when that is not the whole of it: the text between the first brace
/// and the next that closes it.
std::string_view tag_of(std::string_view name) noexcept
{
    const std::size_t begin = name.find('{');
    if (begin == std::string_view::npos)
        return {};
    const std::size_t end = name.find('}', begin + 1);
    return end == std::string_view::npos ? std::string_view()
                                         : name.substr(begin + 1, end - begin - 1);
}

// `prefix:{name}`; where the name has braces, `prefix:{tag}:name`, so that "a" and "{a}" are two.
void tagged(std::string_view prefix, std::string_view name, std::string& out)
{
    out.assign(prefix);
    out += ":{";
    if (name.find_first_of("{}") == std::string_view::npos) {
        out += name;
        out += '}';
        return;
    }
    out += tag_of(name);
    out += "}:";
    out += name;
}

} // namespace

void line_key(std::string_view name, std::string& out)
{
    tagged("leasehold:line", name, out);
}

void waiters_key(std::string_view name, std::string& out)
{
    tagged("leasehold:waiters", name, out);
}

void entries_key(std::string_view name, std::string& out)
{
    tagged("leasehold:entries", name, out);
}

void value_of(std::string_view owner, std::string& out)
{
    out.assign(mark);
    out += owner;
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

void turn_channel(std::string_view client, std::string& out)
{
    out.assign("leasehold:turn:");
    out += client;
}

} // namespace leasehold::redis_store::native
