#include "etcd/protocol/replies.hpp"

#include "etcd/protocol/json.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::etcd_store {
namespace {

bool read(const json& from, std::uint64_t& to)
{
    const auto value = from.natural();
    to = value.value_or(0);
    return value.has_value();
}

bool read(const json& from, std::int64_t& to)
{
    const auto value = from.integer();
    to = value.value_or(0);
    return value.has_value();
}

bool read(const json& from, std::string& to)
{
    auto value = from.bytes();
    if (!value)
        return false;
    to = std::move(*value);
    return true;
}

bool read(const json& from, reply_header& to)
{
    return from.type() == json::kind::object && read(from["member_id"], to.at.member) &&
           read(from["raft_term"], to.at.term) && read(from["revision"], to.revision);
}

bool read(const json& from, key_value& to)
{
    return read(from["key"], to.key) && read(from["value"], to.value) &&
           read(from["create_revision"], to.created) && read(from["mod_revision"], to.modified) &&
           read(from["lease"], to.lease) && !to.key.empty();
}

bool read(const json& from, operation_reply& to);

template <class Element>
bool read(const json& from, std::vector<Element>& to)
{
    for (const json& each : from.elements()) {
        if (!read(each, to.emplace_back()))
            return false;
    }
    return true;
}

bool read(const json& from, transaction_reply& to);

bool read(const json& from, operation_reply& to)
{
    return from.type() == json::kind::object && read(from["response_range"]["kvs"], to.keys) &&
           read(from["response_delete_range"]["deleted"], to.deleted) &&
           read(from["response_txn"], to.nested);
}

bool read(const json& from, transaction_reply& to)
{
    to.succeeded = from["succeeded"].is_true();
    return read(from["responses"], to.operations);
}

/// Each reply of etcd has a header with these numbers.
bool is_whole(const reply_header& header) noexcept
{
    return header.at.member != 0 && header.at.term != 0;
}

} // namespace

const std::vector<key_value>& transaction_reply::keys(std::size_t operation) const noexcept
{
    static const std::vector<key_value> none;
    return operation < operations.size() ? operations[operation].keys : none;
}

std::optional<whole_transaction_reply> read_transaction(std::string_view text)
{
    const auto from = json::parse(text);
    whole_transaction_reply to;
    if (!from || !read((*from)["header"], to.header) || !is_whole(to.header) ||
        !read(*from, to.result))
        return std::nullopt;
    return to;
}

std::optional<range_reply> read_range(std::string_view text)
{
    const auto from = json::parse(text);
    range_reply to;
    if (!from || !read((*from)["header"], to.header) || !is_whole(to.header) ||
        !read((*from)["kvs"], to.keys))
        return std::nullopt;
    to.more = (*from)["more"].is_true();
    return to;
}

std::optional<lease_reply> read_grant(std::string_view text)
{
    const auto from = json::parse(text);
    lease_reply to;
    if (!from || !read((*from)["header"], to.header) || !is_whole(to.header) ||
        !read((*from)["ID"], to.lease) || !read((*from)["TTL"], to.seconds) || to.lease == 0)
        return std::nullopt;
    return to;
}

std::optional<lease_reply> read_keep_alive(std::string_view text)
{
    const auto from = json::parse(text);
    lease_reply to;
    if (!from)
        return std::nullopt;
    const json& result = (*from)["result"];
    if (!read(result["header"], to.header) || !read(result["ID"], to.lease) ||
        !read(result["TTL"], to.seconds) || to.lease == 0)
        return std::nullopt;
    return to;
}

std::optional<reply_header> read_header(std::string_view text)
{
    const auto from = json::parse(text);
    reply_header to;
    if (!from || !read((*from)["header"], to) || !is_whole(to))
        return std::nullopt;
    return to;
}

std::optional<std::string> read_token(std::string_view text)
{
    const auto from = json::parse(text);
    if (!from || (*from)["token"].text().empty())
        return std::nullopt;
    return (*from)["token"].text();
}

std::optional<watch_reply> read_watch(std::string_view text)
{
    const auto from = json::parse(text);
    if (!from)
        return std::nullopt;
    const json& result = (*from)["result"];
    watch_reply to;
    if (result.type() != json::kind::object || !read(result["watch_id"], to.watch) ||
        !read(result["header"]["revision"], to.revision))
        return std::nullopt;
    to.created = result["created"].is_true();
    to.canceled = result["canceled"].is_true();
    const auto& events = result["events"].elements();
    to.removed = std::any_of(events.begin(), events.end(),
                             [](const json& each) { return each["type"].text() == "DELETE"; });
    return to;
}

} // namespace leasehold::etcd_store
