// The contract of stores, on a MariaDB or MySQL server.
#include <boost/test/unit_test.hpp>

#include "mysql/database.hpp"
#include "support/store_contract.hpp"

#include <leasehold/mysql.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// One server for all cases.
mysql_database& shared_database()
{
    static mysql_database only;
    return only;
}

class mysql_lab final : public store_lab
{
public:
    mysql_lab() { clear(); }

    std::shared_ptr<store> make_store() override
    {
        return make_mysql_store(mysql_config(shared_database().url() + "?health_check=100"));
    }

    void erase(std::string_view name) override
    {
        const std::string bytes = literal(std::string(name));
        operator_.run("update leasehold_lock set owner = null where " + bytes +
                      " in (name, long_name)");
    }

    // Each client has a lock of its session for grants, until the server ends that session.
    void wait_for_ended_clients() override
    {
        while (operator_
                   .run("select count(distinct listener) as n from leasehold_waiter "
                        "where is_used_lock(concat('leasehold:', listener)) is not null")
                   .number("n") > 1)
            std::this_thread::yield();
    }

    void clear() override { operator_.run("truncate leasehold_lock; truncate leasehold_waiter"); }

private:
    mysql_connection operator_ = shared_database().connect();
};

const bool added = add_store_contract([] { return std::make_unique<mysql_lab>(); });

} // namespace
