#include "zookeeper/protocol/node_names.hpp"

#include "base/url.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace leasehold::zookeeper_store {
namespace {

constexpr std::string_view curator_begin = "_c_";
constexpr std::string_view lock_mark = "-lock-";
constexpr std::size_t digits_of_number = 10;

bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

// An id: letters and digits stay, so the name has no mark in it.
void append_id(std::string& to, std::string_view id)
{
    detail::append_encoded(to, id, "-:_.");
}

} // namespace

std::string lock_node(std::string_view root, std::string_view name)
{
    std::string result(root);
    result += '/';
    // These are no names of nodes, or belong to the server.
    const bool is_special = name == "." || name == ".." || (root.empty() && name == "zookeeper");
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (c <= ' ' || c >= '\x7f' || c == '/' || c == '%' || (is_special && i == 0))
            detail::append_encoded(result, c);
        else
            result += c;
    }
    return name.empty() ? result.append("%empty") : result;
}

std::optional<std::string> lock_of_node(std::string_view node)
{
    if (node == "%empty")
        return std::string();
    try {
        return detail::decode_url(node, "node");
    }
    catch (const boost::system::system_error&) {
        return std::nullopt;
    }
}

std::string child_prefix(std::string_view owner, std::string_view entry)
{
    std::string result(curator_begin);
    append_id(result, owner);
    if (!entry.empty()) {
        result += '~';
        append_id(result, entry);
    }
    return result.append(lock_mark);
}

std::string entries_prefix(std::string_view owner)
{
    std::string result(curator_begin);
    append_id(result, owner);
    return result += '~';
}

bool is_child_of(std::string_view child, std::string_view prefix) noexcept
{
    if (!child.starts_with(prefix))
        return false;
    child.remove_prefix(prefix.size());
    if (child.starts_with('-'))
        child.remove_prefix(1);
    return !child.empty() && std::all_of(child.begin(), child.end(), is_digit);
}

std::string owner_of_child(std::string_view child)
{
    const std::size_t end = child.rfind(lock_mark);
    if (!child.starts_with(curator_begin) || end == child.npos || end < curator_begin.size())
        return {};
    child = child.substr(curator_begin.size(), end - curator_begin.size());
    return lock_of_node(child.substr(0, child.find('~'))).value_or(std::string());
}

std::optional<std::int32_t> number_of_child(std::string_view child) noexcept
{
    const auto last = std::find_if_not(child.rbegin(), child.rend(), is_digit);
    const auto size = static_cast<std::size_t>(last - child.rbegin());
    std::string_view text = child.substr(child.size() - size);
    const std::string_view before = child.substr(0, child.size() - size);
    // The sign follows the mark at the end of a prefix: "-lock--2147483648".
    const bool negative = before.ends_with("--") || before.ends_with("_-");
    if (size + (negative ? 1 : 0) < digits_of_number)
        return std::nullopt;
    if (size > digits_of_number) // the prefix ends with digits
        text.remove_prefix(size - digits_of_number);
    std::int64_t value = 0;
    detail::read_number(text, value);
    value = negative && size <= digits_of_number ? -value : value;
    if (value < INT32_MIN || value > INT32_MAX)
        return std::nullopt;
    return static_cast<std::int32_t>(value);
}

std::string clients_node(std::string_view root)
{
    return std::string(root) + "/%clients";
}

} // namespace leasehold::zookeeper_store
