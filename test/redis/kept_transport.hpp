#ifndef LEASEHOLD_TEST_REDIS_KEPT_TRANSPORT_HPP
#define LEASEHOLD_TEST_REDIS_KEPT_TRANSPORT_HPP

#include "redis/pipeline/batch.hpp"
#include "redis/pipeline/transport.hpp"

#include <leasehold/error.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A transport that keeps its requests. Like a connection, it allocates memory for them.
class kept_transport final : public redis_store::transport
{
public:
    void open(const boost::asio::any_io_executor&,
              const std::shared_ptr<leasehold::detail::context_poster>&,
              const redis_store::script_set&, redis_store::transport_observer& user) override
    {
        observer = &user;
    }
    void close() noexcept override
    {
        for (const auto& each : sent)
            each->owner.reset();
        sent.clear();
    }
    void send(const std::shared_ptr<redis_store::batch>& added) override
    {
        const auto operation = std::make_unique<std::array<char, 64>>();
        sent.push_back(added);
    }
    void abandon(const std::shared_ptr<redis_store::batch>& late) override
    {
        abandoned.push_back(late);
    }
    void drop() noexcept override { close(); }
    void on_read_only() override { ++read_only; }
    void begin_again(error_code why, std::string_view) override
    {
        begun_again.push_back(why);
        observer->on_down(why);
    }
    std::string server() const override { return "server:6379"; }

    redis_store::transport_observer* observer = nullptr;
    std::vector<std::shared_ptr<redis_store::batch>> sent;
    std::vector<std::shared_ptr<redis_store::batch>> abandoned;
    int read_only = 0;
    std::vector<error_code> begun_again;
};

} // namespace leasehold::test

#endif
