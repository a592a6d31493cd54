#ifndef LEASEHOLD_SRC_TESTING_HOST_SIMULATED_ENVIRONMENT_HPP
#define LEASEHOLD_SRC_TESTING_HOST_SIMULATED_ENVIRONMENT_HPP

#include "redis/connection/environment.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/host_state.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <vector>

namespace leasehold::testing::impl {

/// The environment of a Redis store on a simulated host: connections to servers, and the host's
/// time. If there are several servers, the port is the number of the server, beginning with 1.
[[nodiscard]] std::shared_ptr<redis_store::environment> simulated_environment(
    host_state& on, std::vector<server_state*> to);

/// A connection that an application on the host runs, on an executor of its own.
[[nodiscard]] std::shared_ptr<redis_store::request_channel> make_application_connection(
    host_state& on, server_state& to, const asio::any_io_executor& executor,
    const redis_config& limits);

} // namespace leasehold::testing::impl

#endif
