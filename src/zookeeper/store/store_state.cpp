#include "zookeeper/store/store_state.hpp"

#include "base/info_text.hpp"
#include "base/process_text.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

using std::chrono::milliseconds;

/// Finds out whether a waiter is the first, after the child before its own has gone.
class poll_operation final : public operation_of_name
{
public:
    poll_operation(const std::shared_ptr<store_state>& state, const contender& of)
        : operation_of(state, of.folder), key_(of.key())
    {}

    void start() override
    {
        const contender* const of = state_->find(key_);
        if (of == nullptr || of->doubtful || of->leaving || of->holds)
            return finish();
        state_->read_queue(
            place, [this, self = shared_from_this()](const reply& got, const queue_view& queue) {
                contender* const found = state_->find(key_);
                if (!got.good() || found == nullptr)
                    return finish();
                if (!queue.contains(found->child)) {
                    state_->gone(key_);
                    return finish();
                }
                if (queue.is_first(found->number)) {
                    found->holds = true;
                    granted_ = true;
                    return finish();
                }
                state_->watch_before(key_, place + '/' + queue.before(found->number).name,
                                     [this, self](const reply& watching) {
                                         if (watching.error == no_node)
                                             start();
                                         else
                                             finish();
                                     });
            });
    }

    void complete(error_code, const details_ptr&) override
    {
        const contender* const of = state_->find(key_);
        if (granted_ && of != nullptr)
            state_->notify_grant(*of);
    }

private:
    const std::string key_;
    bool granted_ = false;
};

struct renewal_batch
{
    store::renew_handler handler;
    std::vector<std::string> keys;
    std::vector<renewal_result> results;
};

} // namespace

store_state::store_state(const zookeeper_config& settings)
    : state_of(settings.client_info),
      settings_(settings),
      session_(std::make_shared<session>(settings))
{}

void store_state::open_connection(const asio::any_io_executor& strand)
{
    session_->open(strand, *this);
}

void store_state::close_connection()
{
    session_->close();
}

void store_state::drop_connection() noexcept
{
    session_->drop();
}

void store_state::finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                                std::string_view name)
{
    if (why.failed)
        return finish(op, why.failed, outage_.details());
    finish_refused(op, classify(why.error), text_of(why.error), name);
}

// The owners

contender* store_state::find(std::string_view key) noexcept
{
    const auto found = contenders_.find(key);
    return found == contenders_.end() ? nullptr : &found->second;
}

contender& store_state::insert(contender added)
{
    std::string key = added.key();
    return contenders_.insert_or_assign(std::move(key), std::move(added)).first->second;
}

void store_state::erase(std::string_view key)
{
    const auto found = contenders_.find(key);
    if (found == contenders_.end())
        return;
    forget_watch(found->second.waits_for, key);
    contenders_.erase(found);
}

void store_state::forget_watch(std::string_view path, std::string_view key)
{
    const auto [begin, end] = watches_.equal_range(path);
    const auto found = std::find_if(begin, end,
                                    [&](const auto& each) { return each.second == key; });
    if (found != end)
        watches_.erase(found);
}

void store_state::gone(std::string_view key)
{
    const auto found = contenders_.find(key);
    if (found == contenders_.end())
        return;
    const contender last = found->second;
    erase(key);
    // Without its acquisition of the lock, an owner has its entries; the renewal reports an entry.
    if (listener_ != nullptr && last.prefix == child_prefix(last.owner, {}))
        listener_->on_gone(last.name, last.owner);
}

// Requests

void store_state::read_queue(std::string_view folder,
                             std::function<void(const reply&, const queue_view&)> then)
{
    session_->send(get_children(folder), [then = std::move(then)](const reply& got) {
        if (got.error == no_node)
            return then(reply{}, {});
        if (!got.good())
            return then(got, {});
        auto names = read_children(got.body);
        if (!names)
            return then({.failed = errc::outcome_unknown}, {});
        then(got, queue_view(std::move(*names)));
    });
}

void store_state::locate(std::string_view key, std::function<void(const reply&, bool)> then)
{
    const contender* const of = find(key);
    read_queue(of->folder, [self = shared_from_this(), key = std::string(key),
                            then = std::move(then)](const reply& got, const queue_view& queue) {
        const contender* const found = self->find(key);
        if (!got.good() || found == nullptr)
            return then(got, false);
        std::vector<std::string> children;
        for (const queue_view::child& each : queue.children()) {
            if (is_child_of(each.name, found->prefix))
                children.insert(children.begin(), each.name); // the first is the last to be read
        }
        self->verify(key, std::move(children), false, then);
    });
}

/// Takes the first child of this session, and removes its other ones. An old session of the client
/// may have left some, which end with it.
void store_state::verify(const std::string& key, std::vector<std::string> children, bool found,
                         std::function<void(const reply&, bool)> then)
{
    contender* const of = find(key);
    if (children.empty() || of == nullptr) {
        if (of != nullptr) {
            of->doubtful = false;
            of->leaving = false;
        }
        return then({}, found);
    }
    std::string child = std::move(children.back());
    children.pop_back();
    const std::string path = of->folder + '/' + child;
    session_->send(get_data(path, false), [self = shared_from_this(), key,
                                           children = std::move(children), found, child, path,
                                           then = std::move(then)](const reply& got) mutable {
        contender* const whose = self->find(key);
        if (got.failed || (got.error != 0 && got.error != no_node))
            return then(got, false);
        const auto read = got.good() ? read_data(got.body) : std::nullopt;
        if (whose != nullptr && read && read->status.session == self->session_->id()) {
            if (found)
                self->session_->send(remove_node(path), {});
            else {
                whose->child = std::move(child);
                whose->number = number_of_child(whose->child).value_or(0);
                whose->created = static_cast<std::uint64_t>(read->status.created);
                found = true;
            }
        }
        self->verify(key, std::move(children), found, std::move(then));
    });
}

std::function<reply(const reply&)> store_state::make_folder(std::string_view folder)
{
    const auto failed = std::make_shared<std::int32_t>(0);
    const auto note = [failed](const reply& got) {
        if (!got.good() && got.error != node_exists && got.error != no_node)
            *failed = got.error;
    };
    // Most of them exist.
    for (std::size_t end = folder.find('/', 1); end != folder.npos; end = folder.find('/', end + 1))
        session_->send(
            create_node(node_kind::persistent, folder.substr(0, end), {}, !settings_.user.empty()),
            note);
    session_->send(create_node(node_kind::container, folder, {}, !settings_.user.empty()), note);
    // Without the right to create a node, an existing one has the same error. Only a missing node
    // shows that it mattered.
    return [failed](const reply& got) {
        return got.error == no_node && *failed != 0 ? reply{.error = *failed} : got;
    };
}

request store_state::child_of(const contender& whose, node_kind kind, std::string_view name) const
{
    return create_node(kind, whose.folder + '/' + std::string(name), detail::process_text(info_),
                       !settings_.user.empty());
}

void store_state::watch_before(std::string_view key, std::string_view path,
                               std::function<void(const reply&)> then)
{
    session_->send(get_data(path, true),
                   [self = shared_from_this(), key = std::string(key), path = std::string(path),
                    then = std::move(then)](const reply& got) {
                       if (contender* const of = self->find(key); of != nullptr && got.good()) {
                           self->forget_watch(of->waits_for, key);
                           of->waits_for = path;
                           self->watches_.emplace(path, key);
                       }
                       then(got);
                   });
}

std::string store_state::client_path() const
{
    return clients_node(settings_.root) + '/' + client_;
}

request store_state::client_node() const
{
    return create_node(node_kind::ephemeral, client_path(), info_text_, !settings_.user.empty());
}

void store_state::touch(std::function<void(const reply&)> then)
{
    session_->send(set_data(client_path(), info_text_),
                   [self = shared_from_this(), then = std::move(then)](const reply& got) {
                       if (got.error == no_node && self->ready())
                           self->create_client(then); // it was removed
                       else
                           then(got);
                   });
}

void store_state::create_client(std::function<void(const reply&)> then)
{
    session_->send(
        client_node(), [self = shared_from_this(), then = std::move(then)](const reply& got) {
            if (got.error != no_node || !self->ready())
                return then(got);
            const auto cause_of = self->make_folder(clients_node(self->settings_.root));
            self->session_->send(self->client_node(),
                                 [then, cause_of](const reply& last) { then(cause_of(last)); });
        });
}

void store_state::introduce(std::string_view owner)
{
    if (!client_.empty())
        return;
    client_ = client_of(owner);
    // A part of a path.
    if (client_.empty() || child_prefix(client_, {}) != "_c_" + client_ + "-lock-")
        client_ = "client";
    create_client([](const reply&) {});
}

// The connection

void store_state::on_connected(bool is_new)
{
    const auto self = shared_from_this();
    forget_watches();
    outage_.end();
    if (is_new) {
        const auto ended = std::exchange(contenders_, {});
        notify_end(ended);
        if (const std::string client = std::exchange(client_, {}); !client.empty() && ready())
            introduce(client);
    }
    if (listener_ != nullptr)
        listener_->on_settled(0);
    if (listener_ != nullptr)
        listener_->on_connected(0);
    if (listener_ != nullptr)
        listener_->on_listening(0);
}

void store_state::on_lost(const trouble& why)
{
    notify_lost(why.code, why.from_server, why.from_here);
}

void store_state::on_unreachable(error_code why, const diagnostics& details)
{
    notify_unreachable(why, details);
}

void store_state::forget_watches()
{
    watches_.clear();
    for (auto& [key, each] : contenders_) {
        each.watched = false;
        each.waits_for.clear();
    }
}

void store_state::on_event(const watch_event& event)
{
    const auto [begin, end] = watches_.equal_range(event.path);
    std::vector<std::string> keys;
    for (auto each = begin; each != end; ++each)
        keys.push_back(each->second);
    watches_.erase(begin, end);
    for (const std::string& key : keys) {
        contender* const of = find(key);
        if (of == nullptr || of->leaving)
            continue;
        if (of->path() != event.path) {
            add(std::make_shared<poll_operation>(shared_from_this(), *of));
        }
        else if (event.type == node_deleted) {
            gone(key);
        }
        else { // its data was changed
            of->watched = false;
        }
    }
}

// Renewals and descriptions

void store_state::renew(std::span<const renewal> renewals, store::renew_handler handler)
{
    auto batch = std::make_shared<renewal_batch>();
    batch->handler = std::move(handler);
    const auto complete = [self = shared_from_this(), batch](error_code code, renew_reply made) {
        self->post([batch, code, made = std::move(made)]() mutable {
            std::move(batch->handler)(code, std::move(made));
        });
    };
    if (!ready()) {
        renew_reply none;
        none.details = outage_.details();
        return complete(down(), std::move(none));
    }
    const clock::time_point sent = clock::now();
    bool any = false;
    for (const renewal& each : renewals) {
        batch->keys.push_back(lock_node(settings_.root, each.name) + '/' +
                              child_prefix(each.owner, each.entry));
        const contender* const of = find(batch->keys.back());
        const bool unknown = of != nullptr && (of->doubtful || of->leaving);
        const bool held = of != nullptr && of->holds && !unknown;
        batch->results.push_back(unknown ? renewal_result::failed
                                 : held  ? renewal_result::renewed
                                         : renewal_result::gone);
        any = any || held;
        if (held && !of->watched)
            watch_own(*of);
    }
    if (!any)
        return complete({}, renew_reply(batch->results));
    touch([self = shared_from_this(), batch, sent](const reply& got) {
        renew_reply made;
        error_code code = got.failed;
        if (!got.failed && got.error != 0) {
            auto details = std::make_shared<diagnostics>();
            details->server = self->session_->server();
            details->server_message = text_of(got.error);
            made.details = details;
            code = classify(got.error);
        }
        else if (!got.failed) {
            for (std::size_t i = 0; i < batch->keys.size(); ++i) {
                // The event of a removed child came before.
                if (batch->results[i] == renewal_result::renewed && !self->find(batch->keys[i]))
                    batch->results[i] = renewal_result::gone;
            }
            made.results = std::move(batch->results);
            made.lease = self->left_from(sent);
        }
        else {
            made.details = self->outage_.details();
        }
        std::move(batch->handler)(code, std::move(made));
    });
}

/// From then on its removal is an event.
void store_state::watch_own(const contender& of)
{
    session_->send(get_data(of.path(), true),
                   [self = shared_from_this(), key = of.key(), path = of.path()](const reply& got) {
                       contender* const found = self->find(key);
                       if (found == nullptr || found->path() != path || found->leaving)
                           return;
                       if (got.error == no_node)
                           return self->gone(key);
                       if (got.good() && !std::exchange(found->watched, true))
                           self->watches_.emplace(path, key);
                   });
}

void store_state::describe(std::string_view holder, store::describe_handler handler)
{
    auto kept = std::make_shared<store::describe_handler>(std::move(handler));
    const auto complete = [kept](const client_info& found) { std::move (*kept)(found); };
    if (!ready() || holder.empty())
        return post([complete] { complete({}); });
    const std::string folder = clients_node(settings_.root);
    session_->send(get_children(folder), [self = shared_from_this(), complete, folder,
                                          holder = std::string(holder)](const reply& got) {
        const auto names = got.good() ? read_children(got.body) : std::nullopt;
        const auto found = names ? std::find_if(names->begin(), names->end(),
                                                [&](const std::string& each) {
                                                    return each.starts_with(holder);
                                                })
                                 : std::vector<std::string>::const_iterator();
        if (!names || found == names->end() || !self->ready())
            return complete({});
        self->session_->send(get_data(folder + '/' + *found, false), [complete](const reply& data) {
            const auto read = data.good() ? read_data(data.body) : std::nullopt;
            complete(read ? detail::read_info(read->data) : client_info());
        });
    });
}

details_ptr holder_of(const queue_view& queue, bool wanted)
{
    if (!wanted || queue.empty())
        return nullptr;
    auto details = std::make_shared<diagnostics>();
    details->holder = holder_name(owner_of_child(queue.first().name));
    return details->holder.empty() ? nullptr : details;
}

} // namespace leasehold::zookeeper_store
