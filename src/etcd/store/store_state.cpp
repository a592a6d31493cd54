#include "etcd/store/store_state.hpp"

#include <utility>

namespace leasehold::etcd_store {

store_state::store_state(const etcd_config& settings)
    : state_of(settings.client_info),
      settings_(settings),
      session_(std::make_shared<session>(settings)),
      watcher_(std::make_shared<watcher>(settings))
{}

void store_state::open_connection(const asio::any_io_executor& strand)
{
    watcher_->open(strand, *this);
    session_->open(strand, *this);
}

void store_state::close_connection()
{
    watcher_->drop();
    session_->close();
}

void store_state::drop_connection() noexcept
{
    watcher_->drop();
    session_->drop();
}

details_ptr store_state::details_of_reply(const reply& why, std::string_view name) const
{
    return why.error.code == 0 && why.error.status == 0 ? outage_.details()
                                                        : details_of(text_of(why.error), name);
}

void store_state::finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                                std::string_view name)
{
    if (why.error.code == 0 && why.error.status == 0)
        return finish(op, why.failed, outage_.details());
    finish_refused(op, why.failed, text_of(why.error), name);
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
    notify_end(ended);
}

void store_state::on_lost(const trouble& why)
{
    watcher_->stop();
    notify_lost(why.code, why.from_server, why.from_here);
}

void store_state::on_unreachable(error_code why, const diagnostics& details)
{
    notify_unreachable(why, details);
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
