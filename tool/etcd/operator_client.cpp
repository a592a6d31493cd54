#include "operator_client.hpp"

#include "failures.hpp"
#include "interruption.hpp"

#include "base/connection_config.hpp"
#include "base/password_file.hpp"
#include "etcd/protocol/requests.hpp"

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace leasehold::tool {

using namespace etcd_store;

namespace {

constexpr std::size_t keys_at_once = 5'000;

} // namespace

operator_client::~operator_client()
{
    close();
}

std::string operator_client::server() const
{
    return detail::host_and_port(where_.addresses[at_].host, where_.addresses[at_].port);
}

void operator_client::close() noexcept
{
    if (const auto last = std::exchange(link_, nullptr))
        last->close();
    open_ = false;
}

void operator_client::on_closed(const trouble& why)
{
    closed_ = why.from_server.empty() ? why.from_here : why.from_server;
    link_.reset();
    open_ = false;
}

http_reply operator_client::post(const std::string& target, const std::string& body)
{
    // The reply may come after an interruption of this call.
    const auto got = std::make_shared<std::optional<http_reply>>();
    link_->post(target, body, token_, where_.timeout,
                [got](http_reply to) { *got = std::move(to); });
    run_until(context_, [&] { return got->has_value(); });
    if (!(*got)->failure.empty())
        close();
    return std::move(**got);
}

void operator_client::connect()
{
    std::string problems;
    for (at_ = 0; at_ < where_.addresses.size(); ++at_) {
        if (try_connect(problems))
            return;
    }
    at_ = 0;
    throw unreachable(problems);
}

/// @throws refused The server rejects the user.
bool operator_client::try_connect(std::string& problems)
{
    closed_.reset();
    token_.clear();
    link_ = std::make_shared<http_link>(context_.get_executor(), where_, where_.addresses[at_],
                                        where_.timeout);
    link_->open(*this);
    run_until(context_, [&] { return open_ || closed_; });
    if (open_ && !where_.user.empty()) {
        std::string password = where_.password;
        try {
            if (!where_.password_file.empty())
                password = detail::read_password_file("password_file", where_.password_file);
        }
        catch (const std::runtime_error& failed) {
            throw refused(failed.what());
        }
        const http_reply got = post("auth/authenticate",
                                    authenticate_request(where_.user, password));
        if (got.failure.empty() && got.status != 200)
            throw refused(server() + ": " + text_of(read_error(got.status, got.body)));
        if (got.failure.empty())
            token_ = read_token(got.body).value_or(std::string());
        else
            closed_ = got.failure;
    }
    if (!closed_)
        return true;
    problems.append(problems.empty() ? "" : "; ").append(server()).append(": ").append(*closed_);
    return false;
}

std::string operator_client::ask(const std::string& target, const std::string& body)
{
    if (!link_)
        connect();
    http_reply got = post(target, body);
    if (!got.failure.empty())
        throw unreachable(server() + ": " + got.failure);
    if (got.status != 200)
        throw refused(server() + ": " + text_of(read_error(got.status, got.body)));
    return std::move(got.body);
}

std::vector<key_value> operator_client::keys(const std::string& prefix, bool keys_only)
{
    std::vector<key_value> all;
    std::string from = prefix;
    for (bool more = true; more;) {
        auto got = read_range(ask(
            "kv/range",
            text_of(range_request{
                .prefix = prefix, .from = from, .most = keys_at_once, .keys_only = keys_only})));
        if (!got)
            throw refused(server() + ": the server does not speak the protocol of etcd");
        more = got->more && !got->keys.empty();
        for (key_value& each : got->keys)
            all.push_back(std::move(each));
        if (more)
            from = all.back().key + '\0';
    }
    return all;
}

} // namespace leasehold::tool
