// The contract of stores, on a PostgreSQL server.
#include <boost/test/unit_test.hpp>

#include "postgres/database.hpp"
#include "support/store_contract.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// One server for all cases.
database& shared_database()
{
    static database only;
    return only;
}

class postgres_lab final : public store_lab
{
public:
    postgres_lab() { clear(); }

    std::shared_ptr<store> make_store() override
    {
        return make_postgres_store(postgres_config(shared_database().url()));
    }

    void erase(std::string_view name) override
    {
        operator_.run("update leasehold.lock set owner = null where key = leasehold.key($1)",
                      {as_bytes(std::string(name))});
    }

    // Each client has a lock of its session for grants, until the server ends that session.
    void wait_for_ended_clients() override
    {
        while (
            operator_.run("select count(*) from pg_locks where locktype = 'advisory' and granted")
                .number("count") > 1)
            std::this_thread::yield();
    }

    void clear() override { operator_.run("truncate leasehold.lock, leasehold.waiter"); }

private:
    postgresql_connection operator_ = shared_database().connect();
};

const bool added = add_store_contract([] { return std::make_unique<postgres_lab>(); });

} // namespace
