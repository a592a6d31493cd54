#include "zookeeper/protocol/messages.hpp"

#include "zookeeper/protocol/jute.hpp"

#include <utility>

namespace leasehold::zookeeper_store {
namespace {

constexpr std::int32_t any_version = -1;
constexpr std::int32_t all_rights = 31;

std::string with_path(std::string_view path, std::int32_t version)
{
    return jute_writer().text(path).number(version).take();
}

node_status take_status(jute_reader& from)
{
    node_status result;
    result.created = from.i64();
    from.i64(); // the last change
    from.i64(); // two times
    from.i64();
    from.i32(); // three versions
    from.i32();
    from.i32();
    result.session = from.i64();
    from.i32(); // the length of the data, the number of children
    from.i32();
    from.i64(); // the last change of a child
    return result;
}

template <class Value>
std::optional<Value> if_good(const jute_reader& from, Value value)
{
    return from.good() ? std::optional(std::move(value)) : std::nullopt;
}

created_node take_created(jute_reader& from)
{
    created_node result;
    result.path = from.text();
    result.status = take_status(from);
    return result;
}

} // namespace

request create_node(node_kind kind, std::string_view path, std::string_view data,
                    bool only_own_user)
{
    jute_writer to;
    to.text(path).text(data).number(std::int32_t(1)).number(all_rights);
    to.text(only_own_user ? "auth" : "world").text(only_own_user ? "" : "anyone");
    to.number(static_cast<std::int32_t>(kind));
    return {kind == node_kind::container ? operation::create_container : operation::create,
            to.take()};
}

request remove_node(std::string_view path)
{
    return {operation::remove, with_path(path, any_version)};
}

request set_data(std::string_view path, std::string_view data)
{
    return {operation::set_data, jute_writer().text(path).text(data).number(any_version).take()};
}

request get_data(std::string_view path, bool watch)
{
    return {operation::get_data, jute_writer().text(path).flag(watch).take()};
}

request get_children(std::string_view path)
{
    return {operation::get_children, jute_writer().text(path).flag(false).take()};
}

request check_node(std::string_view path)
{
    return {operation::check, with_path(path, any_version)};
}

request sync_request()
{
    return {operation::sync, jute_writer().text("/").take()};
}

request all_of(const std::vector<request>& parts)
{
    jute_writer to;
    for (const request& each : parts)
        to.number(static_cast<std::int32_t>(each.what)).flag(false).number(-1).raw(each.body);
    to.number(-1).flag(true).number(-1);
    return {operation::multi, to.take()};
}

std::string encode(const connect_request& request)
{
    std::string password = request.password;
    password.resize(16, '\0');
    jute_writer to;
    to.number(std::int32_t(0)).number(request.last_zxid).number(request.timeout_ms);
    to.number(request.id).text(password).flag(false); // no read-only server
    return to.take();
}

std::string encode(std::int32_t xid, const request& what)
{
    return jute_writer()
        .number(xid)
        .number(static_cast<std::int32_t>(what.what))
        .raw(what.body)
        .take();
}

std::string encode_auth(std::string_view user_and_password)
{
    jute_writer to;
    to.number(std::int32_t(0)).text("digest").text(user_and_password);
    return encode(auth_xid, {operation::auth, to.take()});
}

std::optional<connect_reply> read_connect_reply(std::string_view bytes)
{
    jute_reader from(bytes);
    connect_reply result;
    from.i32(); // the version of the protocol
    result.timeout_ms = from.i32();
    result.id = from.i64();
    result.password = from.text();
    return if_good(from, std::move(result));
}

std::optional<reply_header> take_header(std::string_view& bytes)
{
    jute_reader from(bytes);
    reply_header result;
    result.xid = from.i32();
    result.zxid = from.i64();
    result.error = from.i32();
    bytes = from.rest();
    return if_good(from, result);
}

std::optional<watch_event> read_event(std::string_view body)
{
    jute_reader from(body);
    watch_event result;
    result.type = from.i32();
    from.i32(); // the state of the session
    result.path = from.text();
    return if_good(from, std::move(result));
}

std::optional<created_node> read_created(std::string_view body)
{
    jute_reader from(body);
    created_node result = take_created(from);
    return if_good(from, std::move(result));
}

std::optional<node_data> read_data(std::string_view body)
{
    jute_reader from(body);
    node_data result;
    result.data = from.text();
    result.status = take_status(from);
    return if_good(from, std::move(result));
}

std::optional<std::vector<std::string>> read_children(std::string_view body)
{
    jute_reader from(body);
    std::vector<std::string> result(from.list());
    for (std::string& each : result)
        each = from.text();
    return if_good(from, std::move(result));
}

std::optional<std::int32_t> read_multi(std::string_view body)
{
    // The server answers `create2` as `create`, so without the status of the node.
    constexpr std::int32_t created = 1;
    jute_reader from(body);
    std::int32_t failed = 0;
    while (from.good()) {
        const std::int32_t type = from.i32();
        const bool end = from.flag();
        from.i32(); // the error, again
        if (end)
            break;
        if (type == -1) {
            const std::int32_t error = from.i32();
            failed = failed == 0 ? error : failed;
        }
        else if (type == created) {
            from.text();
        }
        else if (type != static_cast<std::int32_t>(operation::check) &&
                 type != static_cast<std::int32_t>(operation::remove)) {
            return std::nullopt;
        }
    }
    return if_good(from, failed);
}

} // namespace leasehold::zookeeper_store
