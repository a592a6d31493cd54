#ifndef LEASEHOLD_TEST_SUPPORT_POLL_SERVERS_HPP
#define LEASEHOLD_TEST_SUPPORT_POLL_SERVERS_HPP

#include "support/resp_client.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace leasehold::test {

/// For changes of servers without an event: checks every few milliseconds. A server that ends the
/// connection, or answers something else, is polled again. After `limit`, throws
/// `std::runtime_error` with the text of `failure`.
inline void poll_servers(const std::function<bool()>& reached, std::chrono::milliseconds limit,
                         const std::function<std::string()>& failure)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        try {
            if (reached())
                return;
        }
        catch (const resp_disconnected&) {
        }
        catch (const resp_unexpected&) {
        }
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error(failure());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

} // namespace leasehold::test

#endif
