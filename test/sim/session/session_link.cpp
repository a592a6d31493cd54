#include "sim/session/session_link.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace leasehold::test::sessions {

using namespace std::chrono_literals;
using outcome = acquire_reply::outcome;

namespace {

constexpr auto reply_limit = 1s;
constexpr auto pause_before_connect = 50ms;

/// Copies of the views in a request.
struct kept_acquire
{
    explicit kept_acquire(const acquire_request& asked)
        : name(asked.name), owner(asked.owner), entry(asked.entry), rest(asked)
    {}

    [[nodiscard]] acquire_request request() const
    {
        acquire_request all = rest;
        all.name = name;
        all.owner = owner;
        all.entry = entry;
        return all;
    }

    std::string name;
    std::string owner;
    std::string entry;
    acquire_request rest;
};

} // namespace

template <class Reply, class Handler>
struct session_link::pending_reply final : pending
{
    pending_reply(clock::time_point at, Handler called) : pending(at), handler(std::move(called)) {}

    void fail(error_code code) override { std::move(handler)(code, Reply()); }

    Handler handler;
};

/// A connection, seen from the service.
class session_link::service_end final : public lock_service::client_end,
                                        public std::enable_shared_from_this<service_end>
{
public:
    service_end(testing::world& in, lock_service& at, path& along,
                std::weak_ptr<session_link> client)
        : service_(at),
          client_(std::move(client)),
          requests_(in, along, along.no_requests_until),
          replies_(in, along, along.no_replies_until)
    {}

    /// Calls `f(connection)` at the service.
    template <class F>
    void to_service(F f)
    {
        requests_.send(
            shared_from_this(), [this, f = std::move(f)] { f(*this); }, service_.stalled_until);
    }

    /// Calls `f(link)` on the strand of the client.
    template <class F>
    void to_client(F f)
    {
        replies_.send(
            shared_from_this(),
            [this, f = std::move(f)] {
                const auto client = client_.lock();
                if (!client || !client->strand_)
                    return;
                asio::post(client->strand_, [client, self = shared_from_this(), f] {
                    if (client->connection_ == self)
                        f(*client);
                });
            },
            never_stalled_);
    }

    ~service_end() { service_.disconnect(session, *this); }

    void begin(session_id known)
    {
        session = service_.connect(known, *this);
        to_client([session = session, places = service_.places_of(session)](session_link& link) {
            link.connected(session, places);
        });
    }

    /// The client has ended the connection. The requests that it has sent still arrive.
    void close() { replies_.close(); }

    void first(const placed_owner& who) override
    {
        to_client([who](session_link& link) {
            if (link.error_ != link_error::grant_not_reported && link.listener_ != nullptr)
                link.listener_->on_grant(who.name, who.owner);
        });
    }

    void removed(const placed_owner& who) override
    {
        to_client([who](session_link& link) {
            if (link.places_.erase(who) == 1 && link.listener_ != nullptr &&
                link.error_ != link_error::removal_not_reported)
                link.listener_->on_gone(who.name, who.owner);
        });
    }

    void ended() override
    {
        to_client([](session_link& link) { link.disconnect(errc::store_unavailable); });
        requests_.close();
    }

    void replaced() override { requests_.close(); }

    session_id session = 0;

private:
    static constexpr clock::time_point never_stalled_{};

    lock_service& service_;
    std::weak_ptr<session_link> client_;
    channel requests_;
    channel replies_;
};

session_link::session_link(testing::world& in, testing::host& on, lock_service& to, path& over,
                           link_error error)
    : world_(in), host_(on), service_(to), path_(over), error_(error), timer_(on)
{}

store_traits session_link::traits() const noexcept
{
    store_traits can;
    can.publishes = false;
    can.queues = true;
    can.rejects_late = false;
    can.session = true;
    can.fences = store_traits::fence_source::revision;
    return can;
}

void session_link::open(const asio::any_io_executor& strand, store_listener& listener)
{
    asio::use_service<leasehold::detail::context_lifetime>(
        asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    listener_ = &listener;
    connect();
    tick();
}

void session_link::close()
{
    if (std::exchange(closed_, true))
        return;
    listener_ = nullptr;
    timer_.cancel();
    if (ready_)
        connection_->to_service(
            [service = &service_](service_end& from) { service->end(from.session); });
    asio::post(strand_, [self = shared_from_this()] { self->disconnect(errc::store_unavailable); });
}

void session_link::on_context_end() noexcept
{
    closed_ = true;
    listener_ = nullptr;
    ready_ = false;
    if (connection_)
        std::exchange(connection_, nullptr)->close();
    const auto dropped = std::exchange(pending_, {});
    strand_ = {};
}

void session_link::connect()
{
    began_ = host_.now();
    connection_ = std::make_shared<service_end>(world_, service_, path_, weak_from_this());
    connection_->to_service([known = session_](service_end& from) { from.begin(known); });
}

void session_link::connected(session_id session, const std::vector<placed_owner>& places)
{
    ready_ = true;
    pinged_ = began_;
    if (session != std::exchange(session_, session))
        until_ = {};
    confirm(began_);
    notify_end_of(places);
    if (listener_ != nullptr)
        listener_->on_settled(0);
    if (listener_ != nullptr)
        listener_->on_connected(0);
    if (listener_ != nullptr)
        listener_->on_listening(0);
}

void session_link::notify_end_of(const std::vector<placed_owner>& left)
{
    std::vector<placed_owner> over;
    for (const placed_owner& each : places_)
        if (std::find(left.begin(), left.end(), each) == left.end())
            over.push_back(each);
    for (const placed_owner& each : over) {
        places_.erase(each);
        if (listener_ != nullptr)
            listener_->on_gone(each.name, each.owner);
    }
}

void session_link::reset()
{
    if (strand_)
        asio::post(strand_, [weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->disconnect(errc::store_unavailable);
        });
}

void session_link::disconnect(error_code why)
{
    if (!connection_)
        return;
    const bool was_ready = std::exchange(ready_, false);
    // The service learns of the end with the next connection, or when the session ends.
    std::exchange(connection_, nullptr)->close();
    began_ = host_.now();
    const auto failed = std::exchange(pending_, {});
    for (const auto& [number, each] : failed)
        each->fail(errc::outcome_unknown);
    if (listener_ != nullptr && was_ready)
        listener_->on_disconnected(0, why);
}

void session_link::tick()
{
    timer_.expires_after(50ms);
    timer_.async_wait(asio::bind_executor(strand_, [weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self || self->closed_)
            return;
        const auto now = self->host_.now();
        if (!self->connection_) {
            if (now >= self->began_ + pause_before_connect)
                self->connect();
        }
        else if (!self->ready_) {
            if (now >= self->began_ + reply_limit)
                self->disconnect(errc::store_unavailable);
        }
        else if (!self->pending_.empty() &&
                 now >= self->pending_.begin()->second->sent + reply_limit) {
            self->disconnect(errc::outcome_unknown);
        }
        else if (now >= self->pinged_ + self->service_.lifetime() / 4) {
            self->ping();
        }
        if (!self->closed_)
            self->tick();
    }));
}

template <class Reply, class Handler>
void session_link::answer(Handler handler, error_code code, Reply reply)
{
    if (strand_)
        asio::post(strand_, [handler = std::move(handler), code, reply]() mutable {
            std::move(handler)(code, std::move(reply));
        });
}

template <class Reply, class Handler, class Execute, class Arrived>
void session_link::request(Handler handler, Execute execute, Arrived arrived)
{
    if (!ready_ || closed_)
        return answer(std::move(handler), errc::store_unavailable, Reply());
    const std::uint64_t number = ++last_request_;
    const auto sent = host_.now();
    pending_.emplace(number,
                     std::make_unique<pending_reply<Reply, Handler>>(sent, std::move(handler)));
    connection_->to_service([=, service = &service_](service_end& from) {
        if (!service->lives(from.session))
            return;
        service->renew(from.session);
        Reply reply = execute(*service, from.session);
        from.to_client([=](session_link& link) {
            const auto found = link.pending_.find(number);
            if (found == link.pending_.end())
                return;
            const auto of = std::move(found->second);
            link.pending_.erase(found);
            link.confirm(sent);
            Reply known = reply;
            arrived(link, known, sent);
            std::move(static_cast<pending_reply<Reply, Handler>&>(*of).handler)(error_code(),
                                                                                std::move(known));
        });
    });
}

void session_link::confirm(clock::time_point sent)
{
    until_ = std::max(until_, sent + service_.lifetime());
}

std::chrono::milliseconds session_link::left_from(clock::time_point sent) const
{
    return std::chrono::floor<std::chrono::milliseconds>(until_ - sent);
}

void session_link::acquired(acquire_reply& reply, clock::time_point sent,
                            std::chrono::milliseconds asked, const placed_owner& who)
{
    if (reply.result == outcome::granted || reply.queued)
        places_.insert(who);
    if (reply.result == outcome::granted && left_from(sent) < asked &&
        error_ != link_error::lease_as_requested)
        reply.lease = left_from(sent);
}

void session_link::async_acquire(const acquire_request& asked, acquire_handler handler)
{
    const placed_owner who{std::string(asked.name), std::string(asked.owner)};
    request<acquire_reply>(
        std::move(handler),
        [kept = kept_acquire(asked)](lock_service& at, session_id by) {
            return at.acquire(by, kept.request());
        },
        [who, lease = asked.lease](session_link& link, acquire_reply& reply,
                                   clock::time_point sent) {
            link.acquired(reply, sent, lease, who);
        });
}

void session_link::async_renew(std::span<const renewal> renewals, renew_handler handler)
{
    struct kept_renewal
    {
        std::string name;
        std::string owner;
        std::string entry;
    };
    std::vector<kept_renewal> all;
    std::chrono::milliseconds longest{};
    for (const renewal& each : renewals) {
        all.push_back({std::string(each.name), std::string(each.owner), std::string(each.entry)});
        longest = std::max(longest, each.lease);
    }
    request<renew_reply>(
        std::move(handler),
        [all](lock_service& at, session_id by) {
            renew_reply reply;
            for (const kept_renewal& each : all)
                reply.results.push_back(at.check(by, {each.name, each.owner, {}, each.entry}));
            return reply;
        },
        [longest](session_link& link, renew_reply& reply, clock::time_point sent) {
            if (link.left_from(sent) < longest && link.error_ != link_error::lease_as_requested)
                reply.lease = link.left_from(sent);
        });
}

void session_link::async_release(const release_request& asked, release_handler handler)
{
    std::optional<kept_acquire> next;
    if (asked.next != nullptr)
        next.emplace(*asked.next);
    const placed_owner who{std::string(asked.name), std::string(asked.owner)};
    request<release_reply>(
        std::move(handler),
        [who, entry = std::string(asked.entry), next](lock_service& at, session_id by) {
            release_request all{.name = who.name, .owner = who.owner, .entry = entry};
            std::optional<acquire_request> second;
            if (next) {
                second = next->request();
                all.next = &*second;
            }
            return at.release(by, all);
        },
        [who, next](session_link& link, release_reply& reply, clock::time_point sent) {
            if (reply.result != release_reply::outcome::still_held)
                link.places_.erase(who);
            if (reply.next)
                link.acquired(*reply.next, sent, next->rest.lease, {next->name, next->owner});
        });
}

void session_link::ping()
{
    pinged_ = host_.now();
    request<bool>([](error_code, bool) {}, [](lock_service&, session_id) { return true; },
                  [](session_link&, bool, clock::time_point) {});
}

} // namespace leasehold::test::sessions
