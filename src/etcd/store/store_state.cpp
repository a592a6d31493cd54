#include "etcd/store/store_state.hpp"

#include "base/info_text.hpp"
#include "base/this_process.hpp"

#include <boost/asio/query.hpp>

#include <new>
#include <set>
#include <utility>

namespace leasehold::etcd_store {

store_state::store_state(const etcd_config& settings)
    : settings_(settings),
      session_(std::make_shared<session>(settings)),
      watcher_(std::make_shared<watcher>(settings)),
      info_(settings.client_info ? detail::this_process() : client_info()),
      info_text_(info_.empty() ? std::string() : detail::text_of(info_))
{}

void store_state::open(const asio::any_io_executor& strand, store_listener& listener)
{
    poster_ = detail::context_poster::make(strand);
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    listener_ = &listener;
    watcher_->open(strand, *this);
    session_->open(strand, *this);
}

void store_state::close() noexcept
{
    if (std::exchange(closed_, true))
        return;
    listener_ = nullptr;
    try {
        watcher_->drop();
        session_->close();
    }
    catch (const std::bad_alloc&) {
        on_context_end();
    }
}

// The destruction of a handler may call this object.
void store_state::on_context_end() noexcept
{
    closed_ = true;
    listener_ = nullptr;
    ended_ = true;
    watcher_->drop();
    session_->drop();
    const auto lanes = std::exchange(lanes_, {});
}

// The operations

void store_state::add(std::shared_ptr<operation_of_name> op)
{
    if (ended_)
        return; // no executor could run its handler
    lane& queue = lanes_.try_emplace(op->prefix).first->second;
    queue.push_back(op);
    if (queue.size() > 1)
        return;
    const bool outer = std::exchange(starting_, true);
    run(op->prefix);
    starting_ = outer;
}

/// Starts the first operation of the name.
void store_state::run(const std::string& prefix)
{
    const auto found = lanes_.find(prefix);
    if (found == lanes_.end())
        return;
    const auto op = found->second.front();
    if (ready())
        op->start();
    else
        finish(op, down(), outage_.details());
}

void store_state::finish(const std::shared_ptr<operation_of_name>& op, error_code code,
                         const details_ptr& details)
{
    if (!starting_)
        return end(op, code, details);
    post([self = shared_from_this(), op, code, details] { self->end(op, code, details); });
}

void store_state::end(const std::shared_ptr<operation_of_name>& op, error_code code,
                      const details_ptr& details)
{
    const auto self = shared_from_this();
    // Those that the handler adds go behind the ones that wait already.
    op->complete(code, details);
    const auto found = lanes_.find(op->prefix);
    if (found == lanes_.end() || found->second.empty() || found->second.front() != op)
        return; // the context has ended
    found->second.pop_front();
    if (found->second.empty()) {
        lanes_.erase(found);
        return;
    }
    const bool outer = std::exchange(starting_, true);
    run(op->prefix);
    starting_ = outer;
}

void operation_of_name::finish()
{
    state_->finish(shared_from_this(), {});
}

details_ptr store_state::details_of(const reply& why, std::string_view name) const
{
    if (why.error.code == 0 && why.error.status == 0)
        return outage_.details();
    auto details = std::make_shared<diagnostics>();
    details->server = session_->server();
    details->key = name;
    details->server_message = text_of(why.error);
    return details;
}

void store_state::finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                                std::string_view name)
{
    const details_ptr details = details_of(why, name);
    if (details && details != outage_.details() && listener_ != nullptr && !starting_)
        listener_->on_error(0, why.failed, *details);
    finish(op, why.failed, details);
}

void store_state::finish_refused(const std::shared_ptr<operation_of_name>& op, error_code code,
                                 const char* text, std::string_view name)
{
    auto details = std::make_shared<diagnostics>();
    details->server = session_->server();
    details->key = name;
    details->server_message = text;
    if (listener_ != nullptr && !starting_)
        listener_->on_error(0, code, *details);
    finish(op, code, details);
}

// The owners

contender* store_state::find(std::string_view key) noexcept
{
    const auto found = contenders_.find(key);
    return found == contenders_.end() ? nullptr : &found->second;
}

contender& store_state::insert(contender added)
{
    std::string key = added.key;
    return contenders_.insert_or_assign(std::move(key), std::move(added)).first->second;
}

void store_state::erase(std::string_view key)
{
    const auto found = contenders_.find(key);
    if (found == contenders_.end())
        return;
    end_watch(found->second.before_watch);
    end_watch(found->second.own_watch);
    contenders_.erase(found);
}

void store_state::end_watch(std::int64_t& watch)
{
    watches_.erase(watch);
    watcher_->remove(std::exchange(watch, 0));
}

void store_state::gone(std::string_view key)
{
    const contender* const found = find(key);
    if (found == nullptr)
        return;
    const std::string name = found->name;
    const std::string owner = found->owner;
    // Without its acquisition of the lock, an owner has its entries; the renewal reports an entry.
    const bool acquired = found->entries.contains({});
    erase(key);
    if (listener_ != nullptr && acquired)
        listener_->on_gone(name, owner);
}

// The connection

void store_state::on_connected()
{
    const auto self = shared_from_this();
    outage_.end();
    watcher_->start(session_->address(), session_->reply_limit());
    if (listener_ != nullptr)
        listener_->on_settled(0);
    if (listener_ != nullptr)
        listener_->on_connected(0);
    // With a user, there are no watches. Waiters poll.
    if (listener_ != nullptr && !settings_.user.empty())
        listener_->on_listening(0);
}

void store_state::on_session_end()
{
    const auto self = shared_from_this();
    const auto ended = std::exchange(contenders_, {});
    for (const auto& [watch, key] : std::exchange(watches_, {}))
        watcher_->remove(watch);
    std::set<std::pair<std::string_view, std::string_view>> owners;
    for (const auto& [key, each] : ended)
        owners.emplace(each.name, each.owner);
    for (const auto& [name, owner] : owners) {
        if (listener_ != nullptr)
            listener_->on_gone(name, owner);
    }
}

void store_state::on_lost(const trouble& why)
{
    watcher_->stop();
    diagnostics details;
    details.server = session_->server();
    details.server_message = why.from_server;
    details.connection_error = why.from_here;
    on_unreachable(why.code, details);
}

void store_state::on_unreachable(error_code why, const diagnostics& details)
{
    const auto self = shared_from_this();
    outage_.report(why, details, listener_);
}

// The watches

void store_state::on_removed(std::int64_t watch)
{
    const auto self = shared_from_this();
    const auto found = watches_.find(watch);
    if (found == watches_.end())
        return;
    const std::string key = std::move(found->second);
    watches_.erase(found);
    contender* const of = find(key);
    if (of == nullptr)
        return;
    const bool own = of->own_watch == watch;
    (own ? of->own_watch : of->before_watch) = 0;
    if (of->leaving || of->doubtful)
        return;
    if (own)
        gone(key);
    else
        poll(*of);
}

void store_state::on_watch_late(std::int64_t watch)
{
    const auto found = watches_.find(watch);
    if (const contender* const of = found == watches_.end() ? nullptr : find(found->second))
        poll(*of);
}

void store_state::on_watch_end(std::int64_t watch)
{
    const auto found = watches_.find(watch);
    contender* const of = found == watches_.end() ? nullptr : find(found->second);
    if (found != watches_.end())
        watches_.erase(found);
    if (of == nullptr)
        return;
    if (of->own_watch == watch) {
        of->own_watch = 0; // the next renewal looks
        return;
    }
    of->before_watch = 0;
    poll(*of);
}

void store_state::on_watching()
{
    if (listener_ != nullptr)
        listener_->on_listening(0);
}

} // namespace leasehold::etcd_store
