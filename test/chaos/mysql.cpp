#include "chaos/mysql.hpp"

#include "chaos/database_server.hpp"
#include "mysql/database.hpp"

#include <cstddef>

namespace leasehold::test::chaos {
namespace {

class one_mysql final : public database_server
{
public:
    using database_server::database_server;

    client_way way() override
    {
        client_way made;
        made.url = "mysql://app:secret@127.0.0.1:" +
                   std::to_string(made.add(loopback_endpoint(own_.port()))) +
                   "/locks?timeout=600&health_check=300&reconnect=20";
        return made;
    }

    std::vector<std::string> left_over() override
    {
        std::vector<std::string> all;
        const mysql_rows rows = own_.connect().run(
            "select concat('lock ', name) as what from leasehold_lock where owner is not null "
            "and expires > unix_timestamp(sysdate(6)) * 1000000 "
            "union all select concat('session ', id, ', ', command, ' for ', time, ' s, ', "
            "coalesce(state, ''), ': ', left(coalesce(info, ''), 60)) "
            "from information_schema.processlist where " +
            std::string(is_of_client));
        for (std::size_t i = 0; i < rows.size(); ++i)
            all.push_back(rows.bytes("what", i));
        return all;
    }

private:
    void kill() override { own_.server().kill(); }
    void start() override { own_.server().start(); }
    void pause() override { own_.server().pause(); }
    void resume() override { own_.server().resume(); }

    void clear() override
    {
        own_.connect().run("truncate leasehold_lock; truncate leasehold_waiter");
    }

    void end_sessions() override
    {
        mysql_connection root = own_.connect();
        const mysql_rows rows = root.run(
            std::string("select id from information_schema.processlist where ") + is_of_client);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            try {
                root.run("kill " + rows.bytes("id", i));
            }
            catch (const mysql_failure&) { // the session has ended meanwhile
            }
        }
    }

    void remove(const std::string& name) override
    {
        own_.connect().run("update leasehold_lock set owner = null where name = " + literal(name));
    }

    void lock_tables(bool on) override
    {
        if (!on)
            return locking_.reset();
        locking_ = std::make_unique<mysql_connection>(own_.server().socket(), "root", "locks");
        locking_->run("lock tables leasehold_lock write");
    }

    // Keeps each commit when the server is killed.
    mysql_database own_{{"innodb-flush-log-at-trx-commit=2"}};
    std::unique_ptr<mysql_connection> locking_;
};

} // namespace

std::unique_ptr<deployment> start_mysql(const std::vector<std::string>& names)
{
    return std::make_unique<one_mysql>(names);
}

} // namespace leasehold::test::chaos
