#ifndef LEASEHOLD_EXAMPLE_POLLING_LOOP_HPP
#define LEASEHOLD_EXAMPLE_POLLING_LOOP_HPP

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace example {

// [loop]
/// As `context.run()` on one thread, but polls before it blocks: for `patience` after the last
/// handler.
inline void run_polling(boost::asio::io_context& context,
                        std::chrono::steady_clock::duration patience)
{
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    while (!context.stopped()) {
        if (context.poll() > 0) {
            last = clock::now();
        }
        else if (clock::now() - last >= patience) {
            context.run_one();
            last = clock::now();
        }
    }
}
// [/loop]

} // namespace example

#endif
