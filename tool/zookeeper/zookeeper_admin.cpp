#include "zookeeper_admin.hpp"

#include "failures.hpp"
#include "operator_session.hpp"

#include "base/info_text.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/contender.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <leasehold/diagnostics.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <utility>

namespace leasehold::tool {
namespace {

using namespace zookeeper_store;
using child = queue_view::child;

/// The owner of a child, or the name of another library's child.
std::string name_of_owner(const std::string& name)
{
    std::string owner = owner_of_child(name);
    return owner.find(':') == owner.npos ? name : owner;
}

class zookeeper_admin final : public lock_admin
{
public:
    zookeeper_admin(boost::asio::io_context& context, const zookeeper_config& where)
        : root_(where.root), session_(context, where)
    {}

    lock_list list(const std::string& pattern) override
    {
        lock_list seen;
        seen.complete = read_or_report(seen.problems, [&] {
            read_clients();
            std::vector<std::string> names;
            for (const std::string& node : children_of(root_.empty() ? "/" : root_)) {
                auto name = lock_of_node(node);
                if (name && ::fnmatch(pattern.c_str(), name->c_str(), 0) == 0 &&
                    !(root_.empty() && node == "zookeeper"))
                    names.push_back(std::move(*name));
            }
            seen.locks = read_locks(queues_of(names), false);
        });
        std::sort(seen.locks.begin(), seen.locks.end(),
                  [](const lock_state& a, const lock_state& b) { return a.name < b.name; });
        return seen;
    }

    std::optional<lock_state> read(const std::string& name) override
    {
        read_clients();
        return read_lock({name, queue_of(name)}, true);
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        const std::string folder = lock_node(root_, name);
        break_result done;
        read_clients();
        const queue_view queue = queue_of(name);
        auto found = read_lock({name, queue}, true);
        if (!found)
            return done;
        done.before = std::move(*found);
        if (done.before.owner != owner) {
            done.result = break_result::outcome::other_owner;
            return done;
        }
        // All of them or none: their names are never used again.
        std::vector<request> removals;
        for (const child& each : queue.children()) {
            if (each.number == queue.first().number)
                removals.push_back(remove_node(folder + '/' + each.name));
        }
        const auto answer = session_.ask(all_of(removals));
        if (answer.error != 0 || read_multi(answer.body).value_or(0) != 0)
            return done; // it was released meanwhile
        const auto next = read_lock({name, queue_of(name)}, false);
        done.result = next ? break_result::outcome::granted_next : break_result::outcome::freed;
        done.next = next ? next->owner : std::string();
        return done;
    }

private:
    struct queue_of_lock
    {
        std::string name;
        queue_view queue;
    };

    std::vector<std::string> children_of(const std::string& node)
    {
        const auto answer = session_.ask(get_children(node));
        return read_children(answer.body).value_or(std::vector<std::string>());
    }

    std::vector<queue_of_lock> queues_of(const std::vector<std::string>& names)
    {
        std::vector<request> questions;
        for (const std::string& name : names)
            questions.push_back(get_children(lock_node(root_, name)));
        const auto answers = session_.ask(questions);
        std::vector<queue_of_lock> queues;
        for (std::size_t i = 0; i < names.size(); ++i)
            queues.push_back(
                {names[i],
                 queue_view(read_children(answers[i].body).value_or(std::vector<std::string>()))});
        return queues;
    }

    queue_view queue_of(const std::string& name) { return queues_of({name}).front().queue; }

    /// The descriptions of all clients.
    void read_clients()
    {
        clients_.clear();
        const std::string folder = clients_node(root_);
        const auto ids = children_of(folder);
        std::vector<request> questions;
        for (const std::string& each : ids)
            questions.push_back(get_data(folder + '/' + each, false));
        const auto answers = session_.ask(questions);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (const auto read = read_data(answers[i].body))
                clients_[ids[i]] = detail::read_info(read->data);
        }
    }

    client_info info_of(const std::string& owner) const
    {
        const auto found = clients_.find(std::string(client_of(owner)));
        return found == clients_.end() ? client_info() : found->second;
    }

    /// The locks that are held.
    /// @param whole With the waiters.
    std::vector<lock_state> read_locks(std::vector<queue_of_lock> all, bool whole)
    {
        std::erase_if(all, [](const queue_of_lock& each) { return each.queue.empty(); });
        std::vector<request> questions;
        for (const auto& [name, queue] : all)
            questions.push_back(get_data(lock_node(root_, name) + '/' + queue.first().name, false));
        const auto answers = session_.ask(questions);
        std::vector<lock_state> locks;
        for (std::size_t i = 0; i < all.size(); ++i)
            locks.push_back(state_of(all[i], read_data(answers[i].body), whole));
        return locks;
    }

    std::optional<lock_state> read_lock(queue_of_lock one, bool whole)
    {
        auto found = read_locks({std::move(one)}, whole);
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
    }

    /// @param data The holder's. Another library writes an address into it.
    lock_state state_of(const queue_of_lock& of, const std::optional<node_data>& data,
                        bool whole) const
    {
        const child& first = of.queue.first();
        lock_state lock;
        lock.name = of.name;
        lock.owner = name_of_owner(first.name);
        const bool external = lock.owner == first.name;
        lock.kind = external ? lock_kind::external : lock_kind::zookeeper;
        lock.client = holder_name(lock.owner);
        lock.info = info_of(lock.owner);
        for (const child& each : of.queue.children()) {
            if (each.number == first.number)
                continue;
            if (whole) {
                const std::string owner = name_of_owner(each.name);
                lock.queue.push_back(
                    {.owner = owner, .client = holder_name(owner), .info = info_of(owner)});
            }
            ++lock.waiters;
        }
        lock.holds = of.queue.children().size() - lock.waiters;
        if (data) {
            lock.fence_at_most = (static_cast<std::uint64_t>(data->status.created) << fence_bits) +
                                 fences_of_change - 1;
            if (external)
                lock.info.host = data->data;
        }
        return lock;
    }

    const std::string root_;
    operator_session session_;
    std::map<std::string, client_info> clients_;
};

} // namespace

std::unique_ptr<lock_admin> make_zookeeper_admin(boost::asio::io_context& context,
                                                 const zookeeper_config& where)
{
    return std::make_unique<zookeeper_admin>(context, where);
}

} // namespace leasehold::tool
