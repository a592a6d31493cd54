#include "redis/connection/dialer.hpp"

#include "base/url.hpp"
#include "redis/config/address.hpp"
#include "redis/connection/settings.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/error.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::redis_store {
namespace {

// The maximum number of remembered addresses.
constexpr std::size_t most_addresses = 16;

bool is_closed(error_code ended)
{
    return ended == boost::asio::error::eof || ended == boost::asio::error::connection_reset ||
           ended == boost::asio::error::broken_pipe ||
           ended == boost::asio::ssl::error::stream_truncated;
}

bool is_too_late(error_code ended)
{
    using boost::redis::error;
    return ended == error::pong_timeout || ended == error::write_timeout ||
           ended == error::connect_timeout || ended == error::resolve_timeout;
}

std::string text_of(error_code why)
{
    return is_closed(why)     ? "the server closed the connection"
           : is_too_late(why) ? "no answer in time"
                              : why.message();
}

template <class Endpoint>
void move_to_end(std::vector<Endpoint>& all, const Endpoint& one)
{
    std::erase(all, one);
    if (all.size() == most_addresses)
        all.erase(all.begin());
    all.push_back(one);
}

} // namespace

const boost::redis::address& dialer::begin(const boost::redis::address& named)
{
    begin();
    reached_ = named;
    if (settings_.kind == redis_config::deployment::sentinel) {
        redis_config::address at{named.host, 0};
        detail::read_number(named.port, at.port);
        const auto& given = settings_.addresses;
        if (std::find(given.begin(), given.end(), at) == given.end())
            at = reached_address(settings_, std::move(at));
        reached_ = {std::move(at.host), std::to_string(at.port)};
    }
    where_ = reached_.host + ':' + reached_.port;
    return reached_;
}

void dialer::begin()
{
    where_.clear();
    // The previous attempt may have failed for any reason; its address did not answer.
    if (at_ && !answered_) {
        std::erase(good_, *at_);
        move_to_end(silent_, *at_);
    }
    at_.reset();
    choices_ = 0;
    answered_ = false;
    failure_.clear();
}

std::vector<dialer::endpoint> dialer::in_order(
    const boost::asio::ip::tcp::resolver::results_type& found) const
{
    std::vector<endpoint> all;
    for (const auto& each : found) {
        if (std::find(all.begin(), all.end(), each.endpoint()) == all.end())
            all.push_back(each.endpoint());
    }
    const auto rank = [&](const endpoint& one) {
        if (const auto good = std::find(good_.begin(), good_.end(), one); good != good_.end())
            return good_.begin() - good - 1;
        const auto silent = std::find(silent_.begin(), silent_.end(), one);
        return silent == silent_.end() ? 0 : silent - silent_.begin() + 1;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const endpoint& a, const endpoint& b) { return rank(a) < rank(b); });
    return all;
}

void dialer::accepted(const endpoint& at, std::size_t of)
{
    at_ = at;
    choices_ = of;
}

void dialer::answered()
{
    answered_ = true;
    if (!at_)
        return;
    std::erase(silent_, *at_);
    move_to_end(good_, *at_);
}

boost::asio::ssl::context dialer::tls() const
{
    return tls_settings(settings_);
}

void dialer::no_address(error_code why)
{
    failure_.assign("the address of '").append(host()).append("' cannot be found: ");
    failure_ += text_of(why);
}

void dialer::not_connected(error_code why)
{
    failure_ = text_of(why);
}

void dialer::not_secured(std::string why)
{
    failure_ = std::move(why);
}

void dialer::hear(std::string_view text)
{
    // "Failed to resolve … Tried the following Sentinels:\n  Sentinel at …: …\n  Sentinel at …"
    constexpr std::string_view beginning = "Tried the following Sentinels:";
    const std::size_t at = text.find(beginning);
    if (at == std::string_view::npos)
        return;
    sentinels_.clear();
    text.remove_prefix(at + beginning.size());
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (const std::size_t first = line.find_first_not_of(' '); first != line.npos)
            sentinels_.append(sentinels_.empty() ? "" : "; ").append(line.substr(first));
    }
}

std::string dialer::trouble(error_code ended) const
{
    if (ended == boost::redis::error::sentinel_resolve_failed)
        return "no Sentinel names the master '" + settings_.master + "': " + sentinels_;
    if (!failure_.empty())
        return settings_.kind == redis_config::deployment::sentinel && !where_.empty()
                   ? where_ + ": " + failure_
                   : failure_;
    if (!ended || ended == boost::asio::error::operation_aborted)
        return {};
    if (answered_)
        return text_of(ended);
    if (!is_closed(ended))
        return is_too_late(ended) ? text_of(ended)
                                  : "this is not how a Redis server answers: " + ended.message();
    const bool plain = !settings_.tls && settings_.unix_socket.empty();
    return "the server closed the connection before it answered" +
           std::string(plain ? "; it may expect TLS (rediss://), or be a proxy without RESP3" : "");
}

} // namespace leasehold::redis_store
