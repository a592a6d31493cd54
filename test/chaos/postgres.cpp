#include "chaos/postgres.hpp"

#include "chaos/database_server.hpp"
#include "postgres/database.hpp"
#include "postgres/replicated_database.hpp"

#include <cstddef>
#include <utility>

namespace leasehold::test::chaos {
namespace {

constexpr const char* limits = "?timeout=600&health_check=300&reconnect=20";

void end_sessions_of_clients(postgresql_connection as_superuser)
{
    as_superuser.run(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'");
}

/// The locks that are held, and the sessions of clients.
std::vector<std::string> left_over_in(postgresql_connection session)
{
    std::vector<std::string> all;
    const postgresql_rows rows = session.run(R"(
        select 'lock ' || encode(key, 'escape') as what from leasehold.lock
        where owner is not null and expires > leasehold.clock()
        union all
        select 'session ' || pid from pg_stat_activity where usename = 'app')");
    for (std::size_t i = 0; i < rows.size(); ++i)
        all.push_back(rows.get("what", i).value());
    return all;
}

class one_postgres final : public database_server
{
public:
    using database_server::database_server;

    client_way way() override
    {
        client_way made;
        made.url = "postgres://app@127.0.0.1:" +
                   std::to_string(made.add(loopback_endpoint(own_.port()))) + "/postgres" + limits;
        return made;
    }

    std::vector<std::string> left_over() override { return left_over_in(own_.connect()); }

private:
    void kill() override { own_.server().kill(); }
    void start() override { own_.server().start(); }
    void pause() override { own_.server().pause(); }
    void resume() override { own_.server().resume(); }
    void clear() override { own_.connect().run("truncate leasehold.lock, leasehold.waiter"); }
    void end_sessions() override { end_sessions_of_clients(own_.connect()); }

    void remove(const std::string& name) override
    {
        own_.connect().run("update leasehold.lock set owner = null where key = leasehold.key($1)",
                           {as_bytes(name)});
    }

    void lock_tables(bool on) override
    {
        if (!on)
            return locking_.reset();
        locking_ = std::make_unique<postgresql_connection>(own_.connection_text());
        locking_->run_script("begin; lock table leasehold.lock in access exclusive mode");
    }

    database own_{{"fsync=on"}};
    std::unique_ptr<postgresql_connection> locking_;
};

class postgres_pair final : public deployment
{
public:
    client_way way() override
    {
        client_way made;
        made.url = "postgres://app@";
        for (std::size_t server = 0; server < 2; ++server)
            made.url += (server == 0 ? "127.0.0.1:" : ",127.0.0.1:") +
                        std::to_string(made.add(loopback_endpoint(own_.port(server))));
        made.url += std::string("/postgres") + limits;
        return made;
    }

    [[nodiscard]] std::string request_text() const override { return {}; }

    std::vector<fault_kind> faults() override
    {
        return {fault_kind::kill_master, fault_kind::kill_replica, fault_kind::stop_replica,
                fault_kind::kill_connections};
    }

    bool loses(fault_kind) const override { return false; }

    void begin(const planned_fault& what, fault& noted) override
    {
        const bool is_standby = what.kind == fault_kind::kill_replica ||
                                what.kind == fault_kind::stop_replica;
        noted.whom = is_standby ? own_.standby_address() : own_.primary_address();
        switch (what.kind) {
        case fault_kind::kill_master: return own_.primary().kill();
        case fault_kind::kill_replica: return own_.standby().kill();
        case fault_kind::stop_replica: return own_.standby().pause();
        case fault_kind::kill_connections: return end_sessions_of_clients(own_.connect());
        default: return;
        }
    }

    void end(const planned_fault& what, fault&) override
    {
        switch (what.kind) {
        case fault_kind::kill_master: own_.promote_standby(); return own_.replace_standby();
        case fault_kind::kill_replica: own_.standby().start(); break;
        case fault_kind::stop_replica: own_.standby().resume(); break;
        default: return;
        }
        own_.wait_for_standby();
    }

    std::vector<std::string> left_over() override { return left_over_in(own_.connect()); }

private:
    replicated_database own_;
};

} // namespace

std::unique_ptr<deployment> start_postgres(const std::vector<std::string>& names)
{
    return std::make_unique<one_postgres>(names);
}

std::unique_ptr<deployment> start_postgres_pair(const std::vector<std::string>&)
{
    return std::make_unique<postgres_pair>();
}

} // namespace leasehold::test::chaos
