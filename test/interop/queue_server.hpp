#ifndef LEASEHOLD_TEST_INTEROP_QUEUE_SERVER_HPP
#define LEASEHOLD_TEST_INTEROP_QUEUE_SERVER_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A server in which the clients of all libraries wait in one queue for each lock.
class queue_server
{
public:
    virtual ~queue_server() = default;

    /// The store of this library.
    [[nodiscard]] virtual std::string url() const = 0;
    /// The last arguments of another library: the address, and the root of the locks.
    [[nodiscard]] virtual std::vector<std::string> places() const = 0;
    /// Waits until so many clients hold the lock or wait for it.
    virtual void wait_for_contenders(const std::string& name, std::size_t count) = 0;
};

/// Starts the server of the program's tests: ZooKeeper or etcd.
[[nodiscard]] std::unique_ptr<queue_server> start_queue_server();

} // namespace leasehold::test

#endif
