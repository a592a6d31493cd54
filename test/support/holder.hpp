#ifndef LEASEHOLD_TEST_SUPPORT_HOLDER_HPP
#define LEASEHOLD_TEST_SUPPORT_HOLDER_HPP

#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace leasehold::test {

/// The program programs/holder.cpp, which documents its commands.
class holder : public process
{
public:
    using milliseconds = std::chrono::milliseconds;

    explicit holder(const redis_server& server, environment_t environment = {})
        : process({LEASEHOLD_TEST_HOLDER, server.unix_url()}, std::move(environment))
    {}

    /// @param grace If not 0, it sends heartbeats (`lock_options::dead_holder_grace`).
    std::uint64_t lock(const std::string& name, milliseconds lease, milliseconds grace = {})
    {
        write_line("lock " + name + ' ' + std::to_string(lease.count()) + ' ' +
                   std::to_string(grace.count()));
        return locked();
    }

    void ask_for_lock(const std::string& name, milliseconds lease)
    {
        write_line("lock " + name + ' ' + std::to_string(lease.count()));
    }

    /// Waits until it has acquired the requested lock. Returns the fence.
    std::uint64_t locked()
    {
        for (;;) {
            const std::string line = next_line();
            if (line.starts_with("locked "))
                return std::stoull(line.substr(7));
            BOOST_TEST_REQUIRE(line == "waiting");
        }
    }

    std::string ask(const std::string& request)
    {
        write_line(request);
        return next_line();
    }

    /// For replies that consist of a word and a number.
    std::int64_t number(const std::string& request)
    {
        const std::string line = ask(request);
        BOOST_TEST_REQUIRE(line.starts_with(request + ' '), line);
        return std::stoll(line.substr(request.size() + 1));
    }

private:
    std::string next_line() { return read_line(std::chrono::seconds(30)).value_or("nothing"); }
};

} // namespace leasehold::test

#endif
