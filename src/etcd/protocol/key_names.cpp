#include "etcd/protocol/key_names.hpp"

#include "base/url.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace leasehold::etcd_store {
namespace {

constexpr std::string_view empty_name = "%empty";
constexpr std::string_view clients_name = "%clients";

// An id: letters, digits and these stay.
constexpr std::string_view marks_of_ids = "-:_.";

std::string beginning(std::string_view root)
{
    std::string result(root);
    return root.empty() ? result : result += '/';
}

std::optional<std::string> decoded(std::string_view text)
{
    try {
        return detail::decode_url(text, "key");
    }
    catch (const boost::system::system_error&) {
        return std::nullopt;
    }
}

} // namespace

std::string lock_prefix(std::string_view root, std::string_view name)
{
    std::string result = beginning(root);
    for (const char c : name) {
        if (c <= ' ' || c >= '\x7f' || c == '/' || c == '%')
            detail::append_encoded(result, c);
        else
            result += c;
    }
    if (name.empty())
        result += empty_name;
    return result += '/';
}

std::optional<std::string> lock_of_key(std::string_view root, std::string_view key)
{
    const std::string begin = beginning(root);
    if (!key.starts_with(begin))
        return std::nullopt;
    key.remove_prefix(begin.size());
    const std::size_t end = key.find('/');
    if (end == key.npos || end == 0 || key.find('/', end + 1) != key.npos)
        return std::nullopt;
    const std::string_view name = key.substr(0, end);
    if (name == empty_name)
        return std::string();
    auto result = name == clients_name ? std::nullopt : decoded(name);
    // The key of another program may look different, but be read as the same name.
    if (result && lock_prefix({}, *result) != std::string(name) + '/')
        return std::nullopt;
    return result;
}

std::string owner_key(std::string_view prefix, std::string_view owner)
{
    std::string result(prefix);
    detail::append_encoded(result, owner, marks_of_ids);
    return result;
}

std::string owner_of_key(std::string_view key)
{
    const std::string_view last = key.substr(key.rfind('/') + 1);
    // An owner has a colon after the id of its client.
    return last.find(':') == last.npos ? std::string() : decoded(last).value_or(std::string());
}

std::string clients_prefix(std::string_view root)
{
    return beginning(root).append(clients_name) + '/';
}

std::string client_key(std::string_view root, std::string_view client)
{
    std::string result = clients_prefix(root);
    detail::append_encoded(result, client, marks_of_ids);
    return result;
}

std::string end_of_prefix(std::string_view prefix)
{
    std::string result(prefix);
    while (result.size() > 1 && result.back() == '\xff')
        result.pop_back();
    ++result.back();
    return result;
}

} // namespace leasehold::etcd_store
