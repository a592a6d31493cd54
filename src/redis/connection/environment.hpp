#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_ENVIRONMENT_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_ENVIRONMENT_HPP

#include "core/turn/time_source.hpp"
#include "redis/connection/connection.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/redis_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace leasehold::redis_store {

/// The source of a Redis store's connections and time: the operating system, or a simulation.
class environment
{
public:
    virtual ~environment() = default;

    /// A connection on a strand, to be run with `connection_settings(settings)`.
    virtual std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                                        const redis_config& settings,
                                                        connection::complaint complain) = 0;

    /// For one user. Its seed, if any, starts the random numbers of that user.
    virtual std::unique_ptr<detail::time_source> make_time() = 0;

    /// The record of a client that starts now. Empty: none.
    virtual client_info this_client() { return {}; }
};

[[nodiscard]] std::shared_ptr<environment> system_environment();

} // namespace leasehold::redis_store

#endif
