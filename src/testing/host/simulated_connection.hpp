#ifndef LEASEHOLD_SRC_TESTING_HOST_SIMULATED_CONNECTION_HPP
#define LEASEHOLD_SRC_TESTING_HOST_SIMULATED_CONNECTION_HPP

#include "redis/connection/connection.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/host_state.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace leasehold::testing::impl {

/// Replaces a Boost.Redis connection, with its rules: which request waits for a connection and
/// which fails, what has been sent, which reply belongs to which request, when a silent connection
/// is closed.
class simulated_connection final : public redis_store::connection
{
public:
    simulated_connection(host_state& on, server_state& to, const asio::any_io_executor& strand,
                         complaint complain);
    ~simulated_connection() override;

    void run(const boost::redis::config& settings, ended done) override;
    void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                 asio::cancellation_slot slot, executed done) override;
    void set_receive_response(boost::redis::any_adapter adapter) override;
    void receive(ended done) override;
    void cancel(boost::redis::operation operation) override;
    [[nodiscard]] std::size_t commands_sent() const override;

private:
    class state;
    std::shared_ptr<state> state_;
};

} // namespace leasehold::testing::impl

#endif
