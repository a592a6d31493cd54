#include "etcd_admin.hpp"

#include "failures.hpp"
#include "operator_client.hpp"

#include "base/info_text.hpp"
#include "base/revision_fences.hpp"
#include "etcd/protocol/key_names.hpp"
#include "etcd/protocol/requests.hpp"

#include <leasehold/diagnostics.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace leasehold::tool {
namespace {

using namespace etcd_store;

/// The keys of a lock, in the order of their creation.
using queue = std::vector<key_value>;

std::string end_of(const std::string& key)
{
    return key.substr(key.rfind('/') + 1);
}

/// Whether the key is an owner's, or one of concurrency.Mutex. Other programs may have keys of the
/// same form.
bool contends(const key_value& key)
{
    char lease[20];
    std::snprintf(lease, sizeof lease, "%llx", static_cast<unsigned long long>(key.lease));
    return key.lease != 0 && (!owner_of_key(key.key).empty() || end_of(key.key) == lease);
}

/// The owner of a key, or the name of another library's key.
std::string name_of_owner(const key_value& key)
{
    std::string owner = owner_of_key(key.key);
    return owner.empty() ? end_of(key.key) : owner;
}

class etcd_admin final : public lock_admin
{
public:
    etcd_admin(boost::asio::io_context& context, const etcd_config& where)
        : root_(where.root), server_(context, where)
    {}

    lock_list list(const std::string& pattern) override
    {
        lock_list seen;
        seen.complete = read_or_report(seen.problems, [&] {
            read_clients();
            std::map<std::string, queue> queues;
            for (key_value& each : server_.keys(root_.empty() ? root_ : root_ + '/', true)) {
                auto name = lock_of_key(root_, each.key);
                if (name && contends(each) && ::fnmatch(pattern.c_str(), name->c_str(), 0) == 0)
                    queues[std::move(*name)].push_back(std::move(each));
            }
            for (auto& [name, keys] : queues)
                seen.locks.push_back(state_of(name, in_order(std::move(keys)), false));
        });
        return seen;
    }

    std::optional<lock_state> read(const std::string& name) override
    {
        read_clients();
        const queue keys = queue_of(name);
        if (keys.empty())
            return std::nullopt;
        return state_of(name, keys, true);
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        break_result done;
        read_clients();
        const queue keys = queue_of(name);
        if (keys.empty())
            return done;
        done.before = state_of(name, keys, true);
        if (done.before.owner != owner) {
            done.result = break_result::outcome::other_owner;
            return done;
        }
        const key_value& held = keys.front();
        const auto answer = read_transaction(server_.ask(
            "kv/txn", text_of(transaction{.conditions = created_at(held.key, held.created),
                                          .success = delete_key(held.key),
                                          .failure = {}})));
        if (!answer || !answer->result.succeeded)
            return done; // it was released meanwhile
        const queue left = queue_of(name);
        done.result = left.empty() ? break_result::outcome::freed
                                   : break_result::outcome::granted_next;
        done.next = left.empty() ? std::string() : name_of_owner(left.front());
        return done;
    }

private:
    static queue in_order(queue keys)
    {
        std::sort(keys.begin(), keys.end(),
                  [](const key_value& a, const key_value& b) { return a.created < b.created; });
        return keys;
    }

    queue queue_of(const std::string& name)
    {
        queue keys = server_.keys(lock_prefix(root_, name), true);
        std::erase_if(keys, [](const key_value& each) { return !contends(each); });
        return in_order(std::move(keys));
    }

    /// The descriptions of all clients.
    void read_clients()
    {
        clients_.clear();
        for (const key_value& each : server_.keys(clients_prefix(root_), false))
            clients_[end_of(each.key)] = detail::read_info(each.value);
    }

    client_info info_of(const std::string& owner) const
    {
        const auto found = clients_.find(std::string(client_of(owner)));
        return found == clients_.end() ? client_info() : found->second;
    }

    /// @param keys Not empty.
    /// @param whole With the waiters.
    lock_state state_of(const std::string& name, const queue& keys, bool whole) const
    {
        const key_value& first = keys.front();
        lock_state lock;
        lock.name = name;
        lock.owner = name_of_owner(first);
        lock.kind = owner_of_key(first.key).empty() ? lock_kind::external : lock_kind::etcd;
        lock.client = holder_name(lock.owner);
        lock.info = info_of(lock.owner);
        lock.waiters = keys.size() - 1;
        for (std::size_t i = 1; whole && i < keys.size(); ++i) {
            const std::string owner = name_of_owner(keys[i]);
            lock.queue.push_back(
                {.owner = owner, .client = holder_name(owner), .info = info_of(owner)});
        }
        lock.fence_at_most = (first.created << detail::fence_bits) + detail::fences_of_change - 1;
        return lock;
    }

    const std::string root_;
    operator_client server_;
    std::map<std::string, client_info> clients_;
};

} // namespace

std::unique_ptr<lock_admin> make_etcd_admin(boost::asio::io_context& context,
                                            const etcd_config& where)
{
    return std::make_unique<etcd_admin>(context, where);
}

} // namespace leasehold::tool
