#include "postgres_admin.hpp"

#include "database.hpp"
#include "failures.hpp"

#include "postgres/protocol/info_text.hpp"

#include <leasehold/diagnostics.hpp>

#include <fnmatch.h>

#include <string_view>
#include <utility>

namespace leasehold::tool {
namespace {

using postgres_store::parameters;
using postgres_store::row_reader;
using std::chrono::milliseconds;

lock_state read_lock(const row_reader& row)
{
    lock_state lock;
    lock.kind = lock_kind::postgres;
    lock.name = row.bytes(0);
    lock.owner = row.bytes(1);
    lock.client = holder_name(lock.owner);
    lock.left = milliseconds(row.number(2));
    lock.fence_at_most = static_cast<std::uint64_t>(row.number(3));
    lock.holds = static_cast<std::size_t>(row.number(4));
    lock.waiters = static_cast<std::size_t>(row.number(5));
    lock.info = postgres_store::read_info(row.bytes(6));
    return lock;
}

lock_waiter read_waiter(const row_reader& row)
{
    lock_waiter waiter;
    waiter.owner = row.bytes(0);
    waiter.client = holder_name(waiter.owner);
    waiter.there = row.number(1) != 0;
    waiter.info = postgres_store::read_info(row.bytes(2));
    return waiter;
}

class postgres_admin final : public lock_admin
{
public:
    postgres_admin(boost::asio::io_context& context, const postgres_config& where)
        : database_(context, where)
    {}

    lock_list list(const std::string& pattern) override
    {
        parameters all;
        all.add_null();
        lock_list seen;
        try {
            database_.ask("select * from " + database_.named("held") + "($1)", all,
                          [&](const row_reader& row) {
                              lock_state lock = read_lock(row);
                              if (::fnmatch(pattern.c_str(), lock.name.c_str(), 0) == 0)
                                  seen.locks.push_back(std::move(lock));
                          });
        }
        catch (const unreachable& failed) {
            seen = {{}, {failed.what()}, false};
        }
        catch (const refused& failed) {
            seen = {{}, {failed.what()}, false};
        }
        return seen;
    }

    std::optional<lock_state> look(const std::string& name) override
    {
        std::optional<lock_state> found = find(name);
        if (found) {
            parameters only;
            only.add(name);
            database_.ask("select * from " + database_.named("queue") + "($1)", only,
                          [&](const row_reader& row) { found->line.push_back(read_waiter(row)); });
        }
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
        parameters which;
        which.add(name);
        which.add(owner);
        std::int64_t status = 0;
        database_.ask("select " + database_.named("remove") + "($1, $2)", which,
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
        parameters only;
        only.add(name);
        std::optional<lock_state> found;
        database_.ask("select * from " + database_.named("held") + "($1)", only,
                      [&](const row_reader& row) {
                          found = read_lock(row);
                          found->name = name; // a long name is stored in part
                      });
        return found;
    }

    database database_;
};

} // namespace

std::unique_ptr<lock_admin> make_postgres_admin(boost::asio::io_context& context,
                                                const postgres_config& where)
{
    return std::make_unique<postgres_admin>(context, where);
}

} // namespace leasehold::tool
