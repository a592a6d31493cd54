#include "zookeeper/protocol/errors.hpp"

#include <algorithm>
#include <array>

namespace leasehold::zookeeper_store {
namespace {

struct row
{
    std::int32_t error;
    errc code;
    const char* text;
};

constexpr std::array rows{
    row{fence_below_floor, errc::store_refused,
        "the number of the last change is smaller than earlier fences of this lock; was the server "
        "restored from a backup?"},
    row{-2, errc::store_refused, "RuntimeInconsistency"},
    row{-5, errc::not_supported, "MarshallingError: the server cannot read the request"},
    row{-6, errc::not_supported, "Unimplemented: the server is older than ZooKeeper 3.5"},
    row{-7, errc::store_refused, "OperationTimeout"},
    row{-8, errc::invalid_name, "BadArguments"},
    row{no_node, errc::store_refused, "NoNode: the node does not exist"},
    row{-102, errc::permission_denied, "NoAuth: the user has no right to do this"},
    row{-103, errc::store_refused, "BadVersion"},
    row{-108, errc::wrong_type, "NoChildrenForEphemerals: the name is a node of another kind"},
    row{node_exists, errc::store_refused, "NodeExists: the node exists"},
    row{-111, errc::store_refused, "NotEmpty"},
    row{-112, errc::store_unavailable, "SessionExpired"},
    row{-114, errc::invalid_option, "InvalidACL"},
    row{-115, errc::permission_denied, "AuthFailed: the server rejects the user"},
    row{-118, errc::store_unavailable, "SessionMoved: the session has another connection"},
    row{-119, errc::store_refused, "NotReadOnly: the server is read-only"},
    row{login_required, errc::permission_denied,
        "SessionClosedRequireSaslAuth: the server requires a login that the client has not made"},
    row{-125, errc::store_refused, "QuotaExceeded"},
    row{-127, errc::store_refused, "ThrottledOp: the server is overloaded"},
};

const row* find(std::int32_t error) noexcept
{
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const row& each) { return each.error == error; });
    return found == rows.end() ? nullptr : &*found;
}

} // namespace

error_code classify(std::int32_t error) noexcept
{
    const row* const found = find(error);
    return found != nullptr ? found->code : errc::store_refused;
}

std::string text_of(std::int32_t error)
{
    const row* const found = find(error);
    std::string text = found != nullptr ? found->text : "error";
    return error < 0 ? text + " (" + std::to_string(error) + ')' : text;
}

bool ends_connection(std::int32_t error) noexcept
{
    return error == -112 || error == -118;
}

} // namespace leasehold::zookeeper_store
