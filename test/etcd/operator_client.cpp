#include "etcd/operator_client.hpp"

#include "etcd/protocol/requests.hpp"
#include "support/run.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

namespace leasehold::test {

using namespace etcd_store;

operator_client::operator_client(const std::string& url)
    : settings_(url),
      link_(std::make_shared<http_link>(context_.get_executor(), settings_,
                                        settings_.addresses.front(), std::chrono::seconds(10)))
{
    link_->open(*this);
    run_until(context_, [&] { return open_; }, std::chrono::seconds(30));
    if (!settings_.user.empty())
        token_ = read_token(ask("auth/authenticate",
                                authenticate_request(settings_.user, settings_.password)))
                     .value();
}

operator_client::~operator_client()
{
    link_->close();
    context_.restart();
    context_.run();
}

void operator_client::on_closed(const etcd_store::trouble& why)
{
    throw std::runtime_error("the connection of the operator was lost: " + why.from_here);
}

std::string operator_client::ask(const std::string& target, const std::string& body)
{
    std::optional<http_reply> got;
    link_->post(target, body, token_, std::chrono::seconds(10),
                [&](http_reply to) { got = std::move(to); });
    run_until(context_, [&] { return got.has_value(); }, std::chrono::seconds(30));
    if (got->status != 200)
        throw std::runtime_error(target + ": " + got->failure + got->body);
    return got->body;
}

std::vector<key_value> operator_client::keys(const std::string& prefix)
{
    return read_range(ask("kv/range", text_of(range_request{.prefix = prefix}))).value().keys;
}

void operator_client::put(const std::string& key, const std::string& value, std::int64_t lease)
{
    ask("kv/put", put_request(key, value, lease));
}

void operator_client::remove(const std::string& key)
{
    ask("kv/txn", text_of(transaction{.success = delete_key(key)}));
}

void operator_client::clear(const std::string& prefix)
{
    for (const key_value& each : keys(prefix))
        remove(each.key);
}

std::int64_t operator_client::grant(std::int64_t seconds)
{
    return read_grant(ask("lease/grant", grant_request(seconds))).value().lease;
}

void operator_client::revoke(std::int64_t lease)
{
    ask("lease/revoke", lease_request(lease));
}

} // namespace leasehold::test
