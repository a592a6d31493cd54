#ifndef LEASEHOLD_TEST_SUPPORT_COUNTING_LISTENER_HPP
#define LEASEHOLD_TEST_SUPPORT_COUNTING_LISTENER_HPP

#include <leasehold/store.hpp>

#include <string_view>

namespace leasehold::test {

/// Listens to a store that has no client.
struct counting_listener final : store_listener
{
    void on_wakeup(std::string_view) override { ++calls; }
    void on_connected(store_partition) override
    {
        ++calls;
        ++connected;
    }
    void on_disconnected(store_partition, error_code) override { ++calls; }

    int calls = 0;
    int connected = 0;
};

} // namespace leasehold::test

#endif
