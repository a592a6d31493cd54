#include "etcd/protocol/errors.hpp"

#include "base/printable.hpp"
#include "etcd/protocol/json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace leasehold::etcd_store {
namespace {

// Codes of gRPC.
constexpr int invalid_argument = 3;
constexpr int not_found = 5;
constexpr int permission_denied = 7;
constexpr int resource_exhausted = 8;
constexpr int failed_precondition = 9;
constexpr int unimplemented = 12;
constexpr int unauthenticated = 16;

constexpr int http_not_found = 404;
constexpr std::size_t longest_quoted_body = 200;

constexpr std::string_view lease_gone = "requested lease not found";
constexpr std::string_view old_token = "revision of auth store is old";

struct meaning
{
    int code;
    std::string_view text; ///< A part of the text. Empty: any.
    errc result;
};

// The first row that fits. Without one, the request may have been executed.
constexpr std::array meanings{
    meaning{invalid_argument, "user name is empty", errc::permission_denied},
    meaning{invalid_argument, {}, errc::store_refused},
    meaning{not_found, lease_gone, errc::store_unavailable},
    meaning{not_found, {}, errc::store_refused},
    meaning{permission_denied, {}, errc::permission_denied},
    meaning{resource_exhausted, {}, errc::store_refused},
    meaning{failed_precondition, {}, errc::store_refused},
    meaning{unimplemented, {}, errc::not_supported},
    meaning{unauthenticated, {}, errc::store_refused},
};

bool says(const server_error& error, std::string_view text) noexcept
{
    return error.text.find(text) != std::string::npos;
}

} // namespace

server_error read_error(int status, std::string_view body)
{
    server_error error{.status = status};
    const auto read = json::parse(body);
    // A stream has its error within another object.
    const json& reported = read && (*read)["error"].type() == json::kind::object ? (*read)["error"]
                           : read                                                ? *read
                                                                                 : json();
    const json& code = reported["grpc_code"].type() != json::kind::null ? reported["grpc_code"]
                                                                        : reported["code"];
    const auto number = code.integer();
    if (number && *number > 0 && *number < 100)
        error.code = static_cast<int>(*number);
    error.text = reported["message"].text();
    if (error.text.empty())
        error.text = detail::printable(body.substr(0, std::min(body.size(), longest_quoted_body)));
    return error;
}

error_code classify(const server_error& error) noexcept
{
    const auto found = std::find_if(meanings.begin(), meanings.end(), [&](const meaning& each) {
        return each.code == error.code && says(error, each.text);
    });
    if (found != meanings.end())
        return found->result;
    return error.code == 0 && error.status == http_not_found ? errc::not_supported
                                                             : errc::outcome_unknown;
}

std::string text_of(const server_error& error)
{
    if (error.code != 0)
        return error.text + " (gRPC " + std::to_string(error.code) + ')';
    if (error.status == http_not_found)
        return "the server has no /v3/ gateway, as etcd 3.4 or newer has (HTTP 404)";
    return "the server does not speak the protocol of etcd: " + error.text + " (HTTP " +
           std::to_string(error.status) + ')';
}

bool needs_authentication(const server_error& error) noexcept
{
    return error.code == unauthenticated || (error.code != 0 && says(error, old_token));
}

bool is_lease_gone(const server_error& error) noexcept
{
    return error.code == not_found && says(error, lease_gone);
}

trouble trouble_of(const server_error& error)
{
    const error_code code = classify(error);
    return {.code = code == errc::outcome_unknown ? errc::store_unavailable : code,
            .from_server = text_of(error),
            .from_here = {}};
}

} // namespace leasehold::etcd_store
