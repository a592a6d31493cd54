#include "zookeeper/connection/session.hpp"

#include "base/connection_config.hpp"
#include "base/password_file.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

using std::chrono::milliseconds;

// Pings in a session timeout. The lease is shorter by the time between two of them.
constexpr int beats = 10;

/// The time between two pings of the leader is half a tick. The rest is for pings that are late.
milliseconds passing_delay(milliseconds tick) noexcept
{
    return tick * 3 / 4;
}

std::string name_of(const zookeeper_config::address& at)
{
    return detail::host_and_port(at.host, at.port);
}

} // namespace

session::session(const zookeeper_config& settings)
    : settings_(settings), random_(std::random_device{}()), timeout_(settings.session)
{
    // Clients spread over the servers.
    at_ = random_() % settings_.addresses.size();
}

void session::open(const asio::any_io_executor& strand, session_user& user)
{
    strand_ = strand;
    user_ = &user;
    beat_timer_ = std::make_unique<asio::steady_timer>(strand);
    reply_timer_ = std::make_unique<asio::steady_timer>(strand);
    lost_at_ = clock::now();
    attempt_soon();
}

void session::close()
{
    user_ = nullptr;
    if (beat_timer_) {
        beat_timer_->cancel();
        reply_timer_->cancel();
    }
    ready_ = false;
    const auto last = std::exchange(link_, nullptr);
    if (last && greeted_)
        last->close_after(encode(++xid_, {operation::close_session, {}}));
    else if (last)
        last->close();
    if (strand_)
        asio::post(strand_, [self = shared_from_this()] { self->fail_all(nullptr); });
}

// The destruction of a handler may call this object.
void session::drop() noexcept
{
    user_ = nullptr;
    ready_ = false;
    beat_timer_.reset();
    reply_timer_.reset();
    if (const auto last = std::exchange(link_, nullptr))
        last->close();
    strand_ = {};
    const auto gone = std::exchange(waiting_, {});
}

std::string session::server() const
{
    return name_of(settings_.addresses[at_]);
}

milliseconds session::reply_limit() const noexcept
{
    return std::min(settings_.timeout, timeout_ / 3);
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
    greeted_ = false;
    frames_ = 0;
    pings_.clear();
    link_ = std::make_shared<link>(strand_, settings_, settings_.addresses[at_], reply_limit());
    link_->open(*this);
}

void session::on_open()
{
    std::string password = settings_.password;
    if (!settings_.password_file.empty()) {
        try {
            password = detail::read_password_file("password_file", settings_.password_file);
        }
        catch (const std::runtime_error& failed) {
            return link_->fail(failed.what());
        }
    }
    connect_sent_ = clock::now();
    // A server that was restored from a backup rejects a client that has seen more. When the
    // session has ended in any case, it may answer that.
    const bool over = connect_sent_ - lost_at_ > 2 * timeout_;
    link_->send(
        encode(connect_request{.last_zxid = id_ != 0 && !over ? last_zxid_ : 0,
                               .timeout_ms = static_cast<std::int32_t>(settings_.session.count()),
                               .id = id_,
                               .password = password_}));
    ++frames_;
    if (settings_.user.empty()) {
        ping();
    }
    else { // a server that rejects the user reads no more, so nothing is sent after this
        link_->send(encode_auth(settings_.user + ':' + password));
        ++frames_;
    }
    expect_reply();
}

void session::ping()
{
    pings_.push_back(clock::now());
    ++frames_;
    link_->send(encode(ping_xid, {operation::ping, {}}));
}

void session::on_frame(std::string_view content)
{
    const auto self = shared_from_this();
    if (!greeted_)
        return connected(content);
    expect_reply();
    const auto header = take_header(content);
    if (!header)
        return broken("a reply is malformed");
    if (header->xid == event_xid) {
        const auto event = read_event(content);
        if (!event)
            return broken("an event is malformed");
        return user_->on_event(*event);
    }
    if (header->xid == auth_xid && header->error == 0)
        return ping();
    if (header->xid == auth_xid || header->error == login_required) {
        // A later password may be accepted.
        const bool may_change = header->xid == auth_xid && !settings_.password_file.empty();
        return on_closed({.code = may_change ? errc::store_refused : classify(header->error),
                          .from_server = text_of(header->error),
                          .from_here = {}});
    }
    last_zxid_ = std::max(last_zxid_, header->zxid);
    if (header->xid == ping_xid) {
        if (pings_.empty())
            return broken("an answer to no ping");
        if (!ready_)
            return accepted();
        lease_.pinged(pings_.front(), clock::now());
        pings_.pop_front();
        return;
    }
    if (waiting_.empty() || waiting_.front().xid != header->xid)
        return broken("a reply to no request");
    on_reply(*header, content);
}

/// The server knows the session, or reports that it has expired.
void session::connected(std::string_view content)
{
    const auto given = read_connect_reply(content);
    if (!given)
        return broken("the reply to the connection is malformed");
    if (given->timeout_ms <= 0 || given->id == 0) {
        if (id_ == 0)
            return on_closed({.code = errc::store_refused,
                              .from_server = "the server does not begin a session",
                              .from_here = {}});
        id_ = 0;
        password_.clear();
        link_->close();
        link_.reset();
        return attempt_soon();
    }
    greeted_ = true;
    password_ = given->password;
    timeout_ = milliseconds(given->timeout_ms);
    if (std::exchange(id_, given->id) != given->id)
        lease_ = session_lease(connect_sent_, timeout_, passing_delay(settings_.tick));
    else
        lease_.reconnected(connect_sent_);
    expect_reply();
}

/// The server has executed a request, so it accepts the user.
void session::accepted()
{
    ready_ = true;
    round_ = {};
    pings_.clear();
    beat();
    user_->on_connected(std::exchange(announced_, id_) != id_);
}

void session::on_reply(const reply_header& header, std::string_view body)
{
    waiting answered = std::move(waiting_.front());
    waiting_.pop_front();
    if (ends_connection(header.error)) {
        // The server has not executed it, and closes the connection.
        const std::string text = text_of(header.error);
        if (answered.handler)
            answered.handler({.failed = errc::store_unavailable});
        return broken(text.c_str());
    }
    if (answered.leader)
        lease_.answered(answered.proof, answered.write && header.error == 0);
    if (answered.handler)
        answered.handler(
            {.error = header.error, .body = header.error == 0 ? body : std::string_view()});
}

void session::send(const request& what, reply_handler handler)
{
    const clock::time_point now = clock::now();
    const bool leader = what.reaches_leader();
    const bool first = waiting_.empty();
    waiting_.push_back({.xid = ++xid_,
                        .frame = ++frames_,
                        .write = what.is_write(),
                        .leader = leader,
                        .proof = leader ? lease_.sending(now) : session_lease::proof{},
                        .handler = std::move(handler)});
    link_->send(encode(xid_, what));
    if (first)
        expect_reply();
    if (xid_ == INT32_MAX)
        xid_ = 0;
}

/// Sends a ping, and asks the leader what the follower has passed on before.
void session::beat()
{
    ping();
    send(sync_request(), {});
    beat_timer_->expires_after(timeout_ / beats);
    beat_timer_->async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (!failed && self && self->ready_)
            self->beat();
    });
}

/// Something was received, or is expected from now on.
void session::expect_reply()
{
    reply_timer_->expires_after(reply_limit());
    reply_timer_->async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self || self->user_ == nullptr || !self->link_ ||
            self->reply_timer_->expiry() > std::chrono::steady_clock::now())
            return;
        if (!self->ready_ || !self->waiting_.empty() || !self->pings_.empty())
            self->link_->fail("no reply within " + std::to_string(self->reply_limit().count()) +
                              " ms");
    });
}

void session::broken(const char* text)
{
    on_closed({.code = errc::store_unavailable, .from_server = {}, .from_here = text});
}

void session::on_closed(const trouble& why)
{
    const auto self = shared_from_this();
    const auto last = std::exchange(link_, nullptr);
    if (!last)
        return;
    last->close();
    beat_timer_->cancel();
    reply_timer_->cancel();
    if (!std::exchange(ready_, false))
        return next_server(why);
    lost_at_ = clock::now();
    fail_all(last.get());
    if (user_ == nullptr)
        return;
    user_->on_lost(why);
    at_ = (at_ + 1) % settings_.addresses.size();
    if (user_ != nullptr)
        attempt_soon();
}

/// Completes the requests without a reply.
/// @param last The connection that has ended. Null: its end is not known.
void session::fail_all(const link* last)
{
    auto all = std::exchange(waiting_, {});
    pings_.clear();
    for (waiting& each : all) {
        const bool unsent = last != nullptr && each.frame > last->frames_sent();
        if (each.handler)
            each.handler({.failed = unsent ? errc::store_unavailable : errc::outcome_unknown});
    }
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

} // namespace leasehold::zookeeper_store
