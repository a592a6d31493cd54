#include "interruption.hpp"

#include "failures.hpp"

namespace leasehold::tool {

namespace asio = boost::asio;

namespace {

class interruption : public asio::execution_context::service
{
public:
    using key_type = interruption;
    inline static asio::execution_context::id id;

    explicit interruption(asio::execution_context& owner) : asio::execution_context::service(owner)
    {}

    bool requested = false;

private:
    void shutdown() override {}
};

} // namespace

void interrupt(asio::io_context& context)
{
    asio::use_service<interruption>(context).requested = true;
}

bool is_interrupted(asio::io_context& context)
{
    return asio::use_service<interruption>(context).requested;
}

void run_until(asio::io_context& context, const std::function<bool()>& reached)
{
    context.restart();
    while (!reached()) {
        if (is_interrupted(context))
            throw interrupted();
        if (context.run_one() == 0)
            context.restart();
    }
}

} // namespace leasehold::tool
