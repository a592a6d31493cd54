#include "redis/connection/connection.hpp"

#include "redis/connection/guarded_stream.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/logger.hpp>

#include <utility>

namespace leasehold::redis_store {
namespace {

template <class Executor>
class connection_of final : public connection
{
public:
    connection_of(Executor strand, const redis_config& settings, complaint complain)
        : dialer_(settings),
          connection_({std::move(strand), dialer_},
                      asio::ssl::context(asio::ssl::context::tls_client),
                      // Only errors are logged, so only a failed attempt has a cost.
                      {boost::redis::logger::level::err,
                       [this, complain = std::move(complain)](boost::redis::logger::level,
                                                              std::string_view text) {
                           dialer_.hear(text);
                           complain(text);
                       }})
    {}

    void run(const boost::redis::config& settings, ended done) override
    {
        connection_.async_run(settings, std::move(done));
    }

    void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                 asio::cancellation_slot slot, executed done) override
    {
        // A lambda has no executor of its own, so the connection's is used as it is, without an
        // erased copy.
        connection_.async_exec(
            request, std::move(adapter),
            asio::bind_cancellation_slot(
                slot, [done = std::move(done)](error_code error, std::size_t size) mutable {
                    std::move(done)(error, size);
                }));
    }

    void set_receive_response(boost::redis::any_adapter adapter) override
    {
        connection_.set_receive_response(adapter);
    }
    void receive(ended done) override { connection_.async_receive2(std::move(done)); }
    void cancel(boost::redis::operation operation) override { connection_.cancel(operation); }
    std::size_t commands_sent() const override { return connection_.get_usage().commands_sent; }
    std::string trouble(error_code why) const override { return dialer_.trouble(why); }

private:
    dialer dialer_;
    guarded_connection<Executor> connection_;
};

} // namespace

std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                            const redis_config& settings,
                                            connection::complaint complain)
{
    // Boost.Redis makes a dozen steps for each request, each with copies of its executor. With a
    // known executor type the total cost is a seventh lower.
    using known = asio::strand<asio::io_context::executor_type>;
    if (const auto* on_io_context = strand.target<known>())
        return std::make_unique<connection_of<known>>(*on_io_context, settings,
                                                      std::move(complain));
    return std::make_unique<connection_of<asio::any_io_executor>>(strand, settings,
                                                                  std::move(complain));
}

} // namespace leasehold::redis_store
