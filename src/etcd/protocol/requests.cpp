#include "etcd/protocol/requests.hpp"

#include "base/base64.hpp"
#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"

#include <initializer_list>
#include <utility>

namespace leasehold::etcd_store {
namespace {

using member = std::pair<const char*, std::string>;

std::string object(std::initializer_list<member> members)
{
    std::string text = "{";
    for (const auto& [name, value] : members) {
        if (value.empty())
            continue;
        if (text.size() > 1)
            text += ',';
        text.append("\"").append(name).append("\":").append(value);
    }
    return text += '}';
}

std::string bytes(std::string_view value)
{
    return '"' + detail::encode_base64(value) + '"';
}

template <class Number>
std::string number(Number value)
{
    return '"' + std::to_string(value) + '"';
}

std::string list(std::string_view elements)
{
    return '[' + std::string(elements) + ']';
}

/// Compares the create revisions of all keys with this prefix.
std::string compare_all(std::string_view prefix, const char* result, std::uint64_t revision)
{
    return object({{"target", "\"CREATE\""},
                   {"result", result},
                   {"key", bytes(prefix)},
                   {"range_end", bytes(end_of_prefix(prefix))},
                   {"create_revision", number(revision)}});
}

} // namespace

std::string put_key(std::string_view key, std::string_view value, std::int64_t lease)
{
    return object({{"request_put", put_request(key, value, lease)}});
}

std::string delete_key(std::string_view key)
{
    return object({{"request_delete_range", object({{"key", bytes(key)}})}});
}

std::string get_key(std::string_view key)
{
    return object({{"request_range", object({{"key", bytes(key)}})}});
}

std::string keys_before(std::string_view prefix, std::uint64_t before, std::size_t most)
{
    return object(
        {{"request_range",
          object({{"key", bytes(prefix)},
                  {"range_end", bytes(end_of_prefix(prefix))},
                  {"sort_order", "\"DESCEND\""},
                  {"sort_target", "\"CREATE\""},
                  {"limit", number(most)},
                  {"keys_only", "true"},
                  {"max_create_revision", before == 0 ? std::string() : number(before - 1)}})}});
}

std::string first_key(std::string_view prefix)
{
    return object({{"request_range", object({{"key", bytes(prefix)},
                                             {"range_end", bytes(end_of_prefix(prefix))},
                                             {"sort_order", "\"ASCEND\""},
                                             {"sort_target", "\"CREATE\""},
                                             {"limit", "\"1\""},
                                             {"keys_only", "true"}})}});
}

std::string created_at(std::string_view key, std::uint64_t revision)
{
    return object({{"target", "\"CREATE\""},
                   {"result", "\"EQUAL\""},
                   {"key", bytes(key)},
                   {"create_revision", number(revision)}});
}

std::string modified_at(std::string_view key, std::uint64_t revision)
{
    return object({{"target", "\"MOD\""},
                   {"result", "\"EQUAL\""},
                   {"key", bytes(key)},
                   {"mod_revision", number(revision)}});
}

std::string attached_to(std::string_view key, std::int64_t lease)
{
    return object({{"target", "\"LEASE\""},
                   {"result", "\"EQUAL\""},
                   {"key", bytes(key)},
                   {"lease", number(lease)}});
}

std::string none_created_before(std::string_view prefix, std::uint64_t revision)
{
    return compare_all(prefix, "\"GREATER\"", revision - 1);
}

// A range without keys is compared as a key whose create revision is 0.
std::string none_exists(std::string_view prefix)
{
    return compare_all(prefix, "\"LESS\"", 1);
}

std::string text_of(const transaction& what)
{
    return object({{"compare", list(what.conditions)},
                   {"success", list(what.success)},
                   {"failure", list(what.failure)}});
}

std::string as_operation(const transaction& what)
{
    return object({{"request_txn", text_of(what)}});
}

std::string both(std::string_view a, std::string_view b)
{
    std::string result(a);
    return result.append(a.empty() || b.empty() ? "" : ",").append(b);
}

std::string put_request(std::string_view key, std::string_view value, std::int64_t lease)
{
    return object({{"key", bytes(key)}, {"value", bytes(value)}, {"lease", number(lease)}});
}

std::string grant_request(std::int64_t seconds)
{
    return object({{"TTL", number(seconds)}});
}

std::string lease_request(std::int64_t lease)
{
    return object({{"ID", number(lease)}});
}

std::string authenticate_request(std::string_view user, std::string_view password)
{
    return object({{"name", json_string(user)}, {"password", json_string(password)}});
}

std::string text_of(const range_request& what)
{
    // A NUL stands for the first key, and for no end.
    const std::string_view all("\0", 1);
    const std::string_view from = what.from.empty() ? what.prefix : what.from;
    return object(
        {{"key", bytes(from.empty() ? all : from)},
         {"range_end", bytes(what.prefix.empty() ? std::string(all) : end_of_prefix(what.prefix))},
         {"limit", what.most == 0 ? std::string() : number(what.most)},
         {"keys_only", what.keys_only ? "true" : ""}});
}

std::string watch_request(std::int64_t id, std::string_view key, std::uint64_t revision)
{
    return object({{"create_request",
                    object({{"watch_id", number(id)},
                            {"key", bytes(key)},
                            {"start_revision", revision == 0 ? std::string() : number(revision)},
                            {"filters", "[\"NOPUT\"]"}})}});
}

std::string unwatch_request(std::int64_t id)
{
    return object({{"cancel_request", object({{"watch_id", number(id)}})}});
}

} // namespace leasehold::etcd_store
