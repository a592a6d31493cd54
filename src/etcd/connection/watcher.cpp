#include "etcd/connection/watcher.hpp"

#include "etcd/protocol/replies.hpp"
#include "etcd/protocol/requests.hpp"

#include <leasehold/clock.hpp>

#include <random>
#include <utility>

namespace leasehold::etcd_store {

watcher::watcher(const etcd_config& settings) : settings_(settings), random_(std::random_device{}())
{}

void watcher::open(const asio::any_io_executor& strand, watcher_user& user)
{
    strand_ = strand;
    user_ = &user;
    timer_ = std::make_unique<asio::steady_timer>(strand);
}

void watcher::start(const etcd_config::address& at, std::chrono::milliseconds limit)
{
    at_ = at;
    limit_ = limit;
    connect();
}

void watcher::stop()
{
    at_.reset();
    open_ = false;
    pauses_ = false;
    if (timer_)
        timer_->cancel();
    if (const auto last = std::exchange(link_, nullptr))
        last->close();
    for (auto& [id, each] : watches_)
        each.confirmed = false;
}

// The destruction of a handler may call this object.
void watcher::drop() noexcept
{
    user_ = nullptr;
    open_ = false;
    at_.reset();
    timer_.reset();
    strand_ = {};
    if (const auto last = std::exchange(link_, nullptr))
        last->close();
}

std::int64_t watcher::add(std::string key, std::uint64_t revision, pace how)
{
    const auto& [id,
                 added] = *watches_.emplace(++last_, watched{std::move(key), revision, how}).first;
    if (open_)
        request(id, added);
    else
        connect();
    return id;
}

void watcher::request(std::int64_t watch, const watched& what)
{
    const std::uint64_t from = what.how == pace::prompt ? 0 : what.revision;
    link_->send(watch_request(watch, what.key, from));
}

void watcher::remove(std::int64_t watch)
{
    if (watches_.erase(watch) != 0 && open_)
        link_->send(unwatch_request(watch));
}

bool watcher::watches(std::int64_t watch) const
{
    const auto found = watches_.find(watch);
    return found != watches_.end() && found->second.confirmed;
}

void watcher::connect()
{
    if (!at_ || link_ || pauses_ || watches_.empty() || user_ == nullptr || !settings_.user.empty())
        return;
    link_ = std::make_shared<watch_link>(strand_, settings_, *at_, limit_);
    link_->open(*this);
}

void watcher::on_watch_open()
{
    open_ = true;
    for (const auto& [id, each] : watches_)
        request(id, each);
    user_->on_watching();
}

void watcher::on_watch_message(std::string_view text)
{
    const auto got = read_watch(text);
    if (!got)
        return; // perhaps of a later version
    const auto found = watches_.find(got->watch);
    if (found == watches_.end())
        return; // it was ended meanwhile
    if (got->removed) {
        remove(got->watch);
        user_->on_removed(got->watch);
    }
    else if (got->canceled) {
        watches_.erase(found);
        user_->on_watch_end(got->watch);
    }
    else if (got->created) {
        found->second.confirmed = true;
        if (found->second.how == pace::prompt && got->revision >= found->second.revision)
            user_->on_watch_late(got->watch);
    }
}

void watcher::on_watch_closed(const std::string&)
{
    open_ = false;
    link_.reset();
    for (auto& [id, each] : watches_)
        each.confirmed = false;
    const clock::duration usual = settings_.reconnect;
    pauses_ = true;
    timer_->expires_after(fsm::pick(random_, usual / 2, usual + usual / 2));
    timer_->async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self)
            return;
        self->pauses_ = false;
        self->connect();
    });
}

} // namespace leasehold::etcd_store
