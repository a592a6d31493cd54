#ifndef LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_MESSAGES_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_MESSAGES_HPP

#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The requests that a lock needs, and their replies.
namespace leasehold::zookeeper_store {

enum class operation : std::int32_t
{
    remove = 2,
    get_data = 4,
    set_data = 5,
    sync = 9,
    ping = 11,
    get_children = 8,
    check = 13,
    multi = 14,
    create = 15,           ///< `create2`, whose reply has the status of the node.
    create_container = 19, ///< A node that the server removes when its last child has gone.
    auth = 100,
    close_session = -11,
};

/// The numbers of messages that answer no request.
enum : std::int32_t
{
    event_xid = -1,
    ping_xid = -2,
    auth_xid = -4,
};

enum class node_kind : std::int32_t
{
    persistent = 0,
    ephemeral = 1,
    ephemeral_sequential = 3,
    container = 4,
};

/// The kinds of events of a watch. After each the watch has ended.
inline constexpr std::int32_t node_deleted = 2;

struct request
{
    operation what;
    std::string body;

    /// Whether a majority must confirm it.
    [[nodiscard]] bool is_write() const noexcept
    {
        return what == operation::create || what == operation::create_container ||
               what == operation::remove || what == operation::set_data || what == operation::multi;
    }
    /// Whether the leader answers it.
    [[nodiscard]] bool reaches_leader() const noexcept
    {
        return is_write() || what == operation::sync;
    }
};

/// The rights on new nodes: `auth` for the user of the session, `world` for all.
[[nodiscard]] request create_node(node_kind kind, std::string_view path, std::string_view data,
                                  bool only_own_user);
[[nodiscard]] request remove_node(std::string_view path);
[[nodiscard]] request set_data(std::string_view path, std::string_view data);
[[nodiscard]] request get_data(std::string_view path, bool watch);
[[nodiscard]] request get_children(std::string_view path);
[[nodiscard]] request check_node(std::string_view path);
[[nodiscard]] request sync_request();
/// All of them or none.
[[nodiscard]] request all_of(const std::vector<request>& parts);

/// A session to begin (`id` 0) or to continue.
struct connect_request
{
    std::int64_t last_zxid = 0;
    std::int32_t timeout_ms = 0;
    std::int64_t id = 0;
    std::string password{};
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::string encode(const connect_request& request);

/// The number of a request, its operation and its body.
[[nodiscard]] std::string encode(std::int32_t xid, const request& what);
[[nodiscard]] std::string encode_auth(std::string_view user_and_password);

// The replies. Nothing: the bytes are no such reply.

struct connect_reply
{
    std::int32_t timeout_ms = 0; ///< Not positive: the session has expired.
    std::int64_t id = 0;
    std::string password{};
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<connect_reply> read_connect_reply(
    std::string_view bytes);

/// The beginning of every other message.
struct reply_header
{
    std::int32_t xid = 0;
    std::int64_t zxid = 0;
    std::int32_t error = 0;
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<reply_header> take_header(
    std::string_view& bytes);

struct watch_event
{
    std::int32_t type = 0;
    std::string path{};
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<watch_event> read_event(
    std::string_view body);

struct node_status
{
    std::int64_t created = 0; ///< The number of the change that has created it.
    std::int64_t session = 0; ///< The session to which it belongs; 0: to none.
};
struct created_node
{
    std::string path{};
    node_status status{};
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<created_node> read_created(
    std::string_view body);
struct node_data
{
    std::string data{};
    node_status status{};
};
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<node_data> read_data(std::string_view body);
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<std::vector<std::string>> read_children(
    std::string_view body);

/// The error of the part that failed; then there was no effect. 0: all of them were executed.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<std::int32_t> read_multi(
    std::string_view body);

} // namespace leasehold::zookeeper_store

#endif
