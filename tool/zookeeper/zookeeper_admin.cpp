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
        try {
            read_clients();
            std::vector<std::string> names;
            std::vector<request> questions;
            for (const std::string& node : children_of(root_.empty() ? "/" : root_)) {
                auto name = lock_of_node(node);
                if (!name || ::fnmatch(pattern.c_str(), name->c_str(), 0) != 0 ||
                    (root_.empty() && node == "zookeeper"))
                    continue;
                questions.push_back(get_children(lock_node(root_, *name)));
                names.push_back(std::move(*name));
            }
            const auto answers = session_.ask(questions);
            for (std::size_t i = 0; i < answers.size(); ++i) {
                if (auto lock = read_lock(names[i], queue_of(answers[i]), false))
                    seen.locks.push_back(std::move(*lock));
            }
        }
        catch (const unreachable& failed) {
            seen = {{}, {failed.what()}, false};
        }
        catch (const refused& failed) {
            seen = {{}, {failed.what()}, false};
        }
        std::sort(seen.locks.begin(), seen.locks.end(),
                  [](const lock_state& a, const lock_state& b) { return a.name < b.name; });
        return seen;
    }

    std::optional<lock_state> look(const std::string& name) override
    {
        read_clients();
        return read_lock(name, queue_of(session_.ask(get_children(lock_node(root_, name)))), true);
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        const std::string folder = lock_node(root_, name);
        break_result done;
        read_clients();
        const queue_view queue = queue_of(session_.ask(get_children(folder)));
        auto found = read_lock(name, queue, true);
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
        const auto next = read_lock(name, queue_of(session_.ask(get_children(folder))), false);
        done.result = next ? break_result::outcome::granted_next : break_result::outcome::freed;
        done.next = next ? next->owner : std::string();
        return done;
    }

private:
    std::vector<std::string> children_of(const std::string& node)
    {
        const auto answer = session_.ask(get_children(node));
        return read_children(answer.body).value_or(std::vector<std::string>());
    }

    static queue_view queue_of(const operator_session::answer& answer)
    {
        return queue_view(read_children(answer.body).value_or(std::vector<std::string>()));
    }

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

    /// @param whole With the waiters, and what another library says of its holder.
    std::optional<lock_state> read_lock(const std::string& name, const queue_view& queue,
                                        bool whole)
    {
        if (queue.empty())
            return std::nullopt;
        const child& first = queue.first();
        lock_state lock;
        lock.name = name;
        lock.owner = name_of_owner(first.name);
        const bool external = lock.owner == first.name;
        lock.kind = external ? lock_kind::external : lock_kind::zookeeper;
        lock.client = holder_name(lock.owner);
        lock.info = info_of(lock.owner);
        for (const child& each : queue.children()) {
            if (each.number == first.number)
                continue;
            if (whole) {
                const std::string owner = name_of_owner(each.name);
                lock.line.push_back(
                    {.owner = owner, .client = holder_name(owner), .info = info_of(owner)});
            }
            ++lock.waiters;
        }
        lock.holds = queue.children().size() - lock.waiters;
        const auto data = session_.ask(get_data(lock_node(root_, name) + '/' + first.name, false));
        if (const auto read = read_data(data.body)) {
            lock.fence_at_most = (static_cast<std::uint64_t>(read->status.created) << fence_bits) +
                                 fences_of_change - 1;
            if (external)
                lock.info.host = read->data; // an address, by Curator
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
