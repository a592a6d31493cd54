#ifndef LEASEHOLD_SRC_TESTING_SERVER_SESSION_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_SESSION_HPP

#include "testing/server/message.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/testing/host.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::testing::impl {

/// A connection, as the server knows it.
class session : public boost::intrusive_ref_counter<session, boost::thread_unsafe_counter>
{
public:
    virtual ~session() = default;

    /// The replies to consecutive commands.
    virtual void answer(std::vector<message> replies) = 0;
    /// A published message; it answers nothing.
    virtual void publish(const message& push) = 0;
    /// The server ends.
    virtual void on_server_end() = 0;
    /// A command has reached this step.
    virtual void report(step reached) = 0;
    /// Its client.
    [[nodiscard]] virtual const std::string& client() const noexcept = 0;

    std::int64_t id = 0;               ///< Assigned by the server.
    std::string address;               ///< As the server sees it.
    bool open = true;                  ///< At the server's end.
    bool killed = false;               ///< Commands that have arrived by it are not run any more.
    bool demoted = false;              ///< It leads to a server that is a replica now.
    bool knows_demotion = false;       ///< A write was rejected.
    clock::time_point written{};       ///< When it last changed any data.
    std::vector<std::string> channels; ///< Subscribed to.
};

using session_ptr = boost::intrusive_ptr<session>;

} // namespace leasehold::testing::impl

#endif
