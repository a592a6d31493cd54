#include "sql_admin.hpp"

#include "database.hpp"
#include "failures.hpp"

#include "base/info_text.hpp"

#include <leasehold/diagnostics.hpp>

#include <fnmatch.h>

#include <string_view>
#include <utility>

namespace leasehold::tool {
namespace {

using sql_store::procedure;
using sql_store::row_reader;
using std::chrono::milliseconds;

lock_state read_lock(const row_reader& row, lock_kind kind)
{
    lock_state lock;
    lock.kind = kind;
    lock.name = row.bytes(0);
    lock.owner = row.bytes(1);
    lock.client = holder_name(lock.owner);
    lock.left = milliseconds(row.number(2));
    lock.fence_at_most = static_cast<std::uint64_t>(row.number(3));
    lock.holds = static_cast<std::size_t>(row.number(4));
    lock.waiters = static_cast<std::size_t>(row.number(5));
    lock.info = detail::read_info(row.bytes(6));
    return lock;
}

lock_waiter read_waiter(const row_reader& row)
{
    lock_waiter waiter;
    waiter.owner = row.bytes(0);
    waiter.client = holder_name(waiter.owner);
    waiter.present = row.number(1) != 0;
    waiter.info = detail::read_info(row.bytes(2));
    return waiter;
}

class sql_admin final : public lock_admin
{
public:
    sql_admin(boost::asio::io_context& context, lock_kind kind,
              std::shared_ptr<const sql_store::driver> how)
        : kind_(kind), database_(context, std::move(how))
    {}

    lock_list list(const std::string& pattern) override
    {
        lock_list seen;
        seen.complete = read_or_report(seen.problems, [&] {
            database_.ask({procedure::held, {std::monostate()}}, [&](const row_reader& row) {
                lock_state lock = read_lock(row, kind_);
                if (::fnmatch(pattern.c_str(), lock.name.c_str(), 0) == 0)
                    seen.locks.push_back(std::move(lock));
            });
        });
        if (!seen.complete)
            seen.locks.clear();
        return seen;
    }

    std::optional<lock_state> read(const std::string& name) override
    {
        std::optional<lock_state> found = find(name);
        if (found)
            database_.ask({procedure::queue, {name}},
                          [&](const row_reader& row) { found->queue.push_back(read_waiter(row)); });
        return found;
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        break_result done;
        std::optional<lock_state> found = find(name);
        if (!found)
            return done;
        done.before = std::move(*found);
        if (done.before.owner != owner) {
            done.result = break_result::outcome::other_owner;
            return done;
        }
        std::int64_t status = 0;
        database_.ask({procedure::remove, {name, owner}},
                      [&](const row_reader& row) { status = row.number(0); });
        if (status == 1)
            done.result = break_result::outcome::freed;
        if (status == 4) {
            done.result = break_result::outcome::granted_next;
            if (const auto next = find(name))
                done.next = next->owner;
        }
        return done;
    }

private:
    std::optional<lock_state> find(const std::string& name)
    {
        std::optional<lock_state> found;
        database_.ask({procedure::held, {name}}, [&](const row_reader& row) {
            found = read_lock(row, kind_);
            found->name = name; // a long name is stored in part
        });
        return found;
    }

    const lock_kind kind_;
    database database_;
};

} // namespace

std::unique_ptr<lock_admin> make_sql_admin(boost::asio::io_context& context, lock_kind kind,
                                           std::shared_ptr<const sql_store::driver> how)
{
    return std::make_unique<sql_admin>(context, kind, std::move(how));
}

} // namespace leasehold::tool
