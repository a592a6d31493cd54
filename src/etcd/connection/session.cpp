#include "etcd/connection/session.hpp"

#include "base/connection_config.hpp"
#include "base/password_file.hpp"
#include "etcd/protocol/key_names.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

namespace leasehold::etcd_store {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds goodbye_limit{1};

} // namespace

session::session(const etcd_config& settings)
    : settings_(settings), random_(std::random_device{}()), ttl_(settings.session)
{
    // Clients spread over the servers.
    at_ = random_() % settings_.addresses.size();
}

void session::open(const asio::any_io_executor& strand, session_user& user)
{
    strand_ = strand;
    user_ = &user;
    beat_timer_ = std::make_unique<asio::steady_timer>(strand);
    attempt_soon();
}

void session::close()
{
    user_ = nullptr;
    if (beat_timer_)
        beat_timer_->cancel();
    const bool was_ready = std::exchange(ready_, false);
    const auto last = std::exchange(link_, nullptr);
    // Without its lease, the keys of the client are removed at once.
    if (last && was_ready && lease_id_ != 0)
        last->close_after("lease/revoke", lease_request(lease_id_), token_, goodbye_limit);
    else if (last)
        last->close();
    if (strand_)
        asio::post(strand_, [self = shared_from_this()] { self->fail_all(errc::outcome_unknown); });
}

// The destruction of a handler may call this object.
void session::drop() noexcept
{
    user_ = nullptr;
    ready_ = false;
    beat_timer_.reset();
    if (const auto last = std::exchange(link_, nullptr))
        last->close();
    strand_ = {};
    const auto begins = std::exchange(beginning_, {});
    const auto unsent = std::exchange(waiting_, {});
    const auto sent = std::exchange(in_flight_, {});
    const auto reads = std::exchange(reading_, {});
    const auto renewals = std::exchange(renewing_, {});
    const auto next_renewals = std::exchange(to_renew_, {});
}

std::string session::server() const
{
    return detail::host_and_port(address().host, address().port);
}

milliseconds session::reply_limit() const noexcept
{
    return std::min(settings_.timeout, ttl_ / 3);
}

// Never inside a call of the user.
void session::attempt_soon()
{
    asio::post(strand_, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->user_ != nullptr && !self->link_)
            self->attempt();
    });
}

void session::attempt()
{
    busy_ = false;
    link_ = std::make_shared<http_link>(strand_, settings_, address(), reply_limit());
    link_->open(*this);
}

void session::on_open()
{
    if (settings_.user.empty())
        return greet();
    authenticate([this] { greet(); });
}

/// Gets a token for the user.
void session::authenticate(std::function<void()> then)
{
    std::string password = settings_.password;
    if (!settings_.password_file.empty()) {
        try {
            password = detail::read_password_file("password_file", settings_.password_file);
        }
        catch (const std::runtime_error& failed) {
            return on_closed(trouble_here(failed.what()));
        }
    }
    token_.clear();
    post(
        "auth/authenticate", authenticate_request(settings_.user, password),
        [this, then = std::move(then)](const http_reply& got) {
            auto token = got.status == 200 ? read_token(got.body) : std::nullopt;
            if (!token)
                return on_closed(trouble_of(read_error(got.status, got.body)));
            token_ = std::move(*token);
            then();
        },
        true);
}

/// Raises the epoch of the session, or finds out whether the server can be used.
void session::greet()
{
    if (lease_id_ != 0)
        return write_key();
    post("kv/range",
         text_of(
             range_request{.prefix = clients_prefix(settings_.root), .most = 1, .keys_only = true}),
         [this](const http_reply& got) {
             const auto read = got.status == 200 ? read_range(got.body) : std::nullopt;
             if (!read)
                 return on_closed(trouble_of(read_error(got.status, got.body)));
             greeted_ = read->header.at;
             connected();
         });
}

/// Creates the key of the client, or changes its revision, which is the epoch.
void session::write_key()
{
    post("kv/put", put_request(key_, value_, lease_id_), [this](const http_reply& got) {
        const auto header = got.status == 200 ? read_header(got.body) : std::nullopt;
        const server_error error = header ? server_error() : read_error(got.status, got.body);
        if (header) {
            epoch_ = header->revision;
            lease_.reconnected();
            lease_.answered({}, header->at);
            beat();
        }
        else if (is_lease_gone(error)) {
            end_session();
        }
        else if (!ready_ || classify(error) == errc::outcome_unknown) {
            return on_closed(trouble_of(error));
        }
        else {
            // The lease has no keys, and ends by itself.
            lease_id_ = 0;
            leases_.clear();
            return refuse(std::exchange(beginning_, {}), got);
        }
        if (user_ == nullptr)
            return;
        if (!ready_)
            return lease_id_ != 0 ? connected() : greet();
        for (const auto& each : std::exchange(beginning_, {}))
            each({.failed = lease_id_ != 0 ? error_code() : errc::store_unavailable});
    });
}

void session::connected()
{
    ready_ = true;
    round_ = {};
    user_->on_connected();
}

void session::on_closed(const trouble& why)
{
    const auto self = shared_from_this();
    const auto last = std::exchange(link_, nullptr);
    if (!last)
        return;
    last->close();
    beat_timer_->cancel();
    if (!std::exchange(ready_, false))
        return next_server(why);
    fail_all(errc::outcome_unknown);
    if (user_ == nullptr)
        return;
    user_->on_lost(why);
    at_ = (at_ + 1) % settings_.addresses.size();
    if (user_ != nullptr)
        attempt_soon();
}

/// Completes all requests without a reply.
/// @param sent The result of those that were sent.
void session::fail_all(error_code sent)
{
    const auto self = shared_from_this();
    const auto sent_batch = std::exchange(in_flight_, {});
    const auto unsent = std::exchange(waiting_, {});
    const auto reads = std::exchange(reading_, {});
    std::vector<reply_handler> others = std::exchange(beginning_, {});
    for (auto* const handlers : {&renewing_, &to_renew_}) {
        for (auto& each : std::exchange(*handlers, {}))
            others.push_back(std::move(each));
    }
    for (const waiting& each : sent_batch)
        each.handler({.failed = sent});
    for (const waiting& each : unsent)
        each.handler({.failed = errc::store_unavailable});
    for (const reply_handler& each : others)
        each({.failed = errc::store_unavailable});
    for (const reading& each : reads)
        each.handler(std::nullopt);
}

/// The attempt failed. After the last server: reports it, and begins again after a pause.
void session::next_server(const trouble& why)
{
    round_.failed(server(), why.code, why.from_server, why.from_here);
    at_ = (at_ + 1) % settings_.addresses.size();
    if (round_.tried() < settings_.addresses.size())
        return attempt_soon();

    const auto [code, details] = round_.end();
    const clock::duration usual = settings_.reconnect;
    beat_timer_->expires_after(fsm::pick(random_, usual / 2, usual + usual / 2));
    beat_timer_->async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (!failed && self && self->user_ != nullptr && !self->link_)
            self->attempt();
    });
    user_->on_unreachable(code, details);
}

} // namespace leasehold::etcd_store
