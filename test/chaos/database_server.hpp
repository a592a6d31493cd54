#ifndef LEASEHOLD_TEST_CHAOS_DATABASE_SERVER_HPP
#define LEASEHOLD_TEST_CHAOS_DATABASE_SERVER_HPP

#include "chaos/deployment.hpp"

#include <string>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {

/// One database server, which keeps each commit when it is killed.
class database_server : public deployment
{
public:
    explicit database_server(std::vector<std::string> names) : names_(std::move(names)) {}

    [[nodiscard]] std::string request_text() const override { return {}; }

    std::vector<fault_kind> faults() override
    {
        return {fault_kind::kill_server,      fault_kind::stop_server, fault_kind::flush_all,
                fault_kind::kill_connections, fault_kind::delete_key,  fault_kind::lock_tables};
    }

    bool loses(fault_kind kind) const override
    {
        return kind == fault_kind::flush_all || kind == fault_kind::delete_key;
    }

    void begin(const planned_fault& what, fault& noted) override
    {
        switch (what.kind) {
        case fault_kind::kill_server: return kill();
        case fault_kind::stop_server: return pause();
        case fault_kind::flush_all: return clear();
        case fault_kind::kill_connections: return end_sessions();
        case fault_kind::delete_key:
            noted.name = names_[what.detail % names_.size()];
            return remove(noted.name);
        case fault_kind::lock_tables: return lock_tables(true);
        default: return;
        }
    }

    void end(const planned_fault& what, fault&) override
    {
        switch (what.kind) {
        case fault_kind::kill_server: return start();
        case fault_kind::stop_server: return resume();
        case fault_kind::lock_tables: return lock_tables(false);
        default: return;
        }
    }

private:
    virtual void kill() = 0;
    virtual void start() = 0;
    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual void clear() = 0;
    virtual void end_sessions() = 0;
    virtual void remove(const std::string& name) = 0;
    virtual void lock_tables(bool on) = 0;

    const std::vector<std::string> names_;
};

} // namespace leasehold::test::chaos

#endif
