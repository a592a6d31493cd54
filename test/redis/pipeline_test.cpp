// The pipeline by itself, over a way to the server that the test is.
#include <boost/test/unit_test.hpp>

#include "store/redis/pipeline.hpp"
#include "support/counting_listener.hpp"

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <new>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace std::chrono_literals;

/// Keeps what it is given.
class kept_transport final : public transport
{
public:
    void open(const asio::any_io_executor&, const std::shared_ptr<context_poster>&,
              transport_observer& user) override
    {
        observer = &user;
    }
    void close() noexcept override
    {
        for (const auto& each : sent)
            each->owner.reset();
        sent.clear();
    }
    void send(const std::shared_ptr<batch>& added) override { sent.push_back(added); }
    void abandon(const std::shared_ptr<batch>&) override {}
    void drop() noexcept override { close(); }

    transport_observer* observer = nullptr;
    std::vector<std::shared_ptr<batch>> sent;
};

/// An executor without memory for what is posted, while `fails` is true.
class full_executor
{
public:
    full_executor(asio::io_context& context, const bool& fails)
        : inner_(context.get_executor()), fails_(&fails)
    {}

    asio::io_context& query(asio::execution::context_t) const noexcept { return inner_.context(); }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept
    {
        return asio::execution::blocking.never;
    }
    full_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

    template <class Function>
    void execute(Function&& function) const
    {
        if (*fails_)
            throw std::bad_alloc();
        asio::post(inner_, std::forward<Function>(function));
    }

    bool operator==(const full_executor&) const noexcept = default;

private:
    asio::io_context::executor_type inner_;
    const bool* fails_;
};

acquire_request take(std::string_view name)
{
    return {.name = name, .owner = "a:1", .entry = {}, .lease = 10s, .fences = 1, .budget = 10s};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_post_that_throws_does_not_silence_what_comes_later)
{
    asio::io_context context;
    bool fails = false;
    const asio::any_io_executor strand = full_executor(context, fails);
    test::counting_listener ears;
    const auto way = std::make_shared<kept_transport>();
    const auto made = std::make_shared<pipeline>(way, leasehold::detail::make_system_time(), 5s,
                                                 24h);
    made->open(strand, context_poster::make(strand), ears);
    way->observer->on_up(std::nullopt);

    made->acquire(take("one"), [](error_code, acquire_reply) {});
    BOOST_TEST(way->sent.size() == 1u); // nothing was under way
    fails = true;
    BOOST_CHECK_THROW(made->acquire(take("two"), [](error_code, acquire_reply) {}), std::bad_alloc);
    fails = false;
    made->acquire(take("three"), [](error_code, acquire_reply) {});
    context.poll();
    BOOST_TEST(way->sent.size() == 2u);
    made->close();
    context.poll();
}
