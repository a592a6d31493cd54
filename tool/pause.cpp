#include "pause.hpp"

#include "failures.hpp"
#include "interruption.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/steady_timer.hpp>

namespace leasehold::tool {

void rest(boost::asio::io_context& context, std::chrono::milliseconds time)
{
    bool over = false;
    boost::asio::steady_timer timer(context, time);
    timer.async_wait([&](error_code) { over = true; });
    context.restart();
    while (!over) {
        context.run_one();
        if (is_interrupted(context))
            timer.cancel(); // its handler refers to `over`, so it must run before this returns
    }
    if (is_interrupted(context))
        throw interrupted();
}

} // namespace leasehold::tool
