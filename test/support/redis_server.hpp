#ifndef LEASEHOLD_TEST_SUPPORT_REDIS_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_REDIS_SERVER_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace leasehold::test {

/// A redis-server process of the test's own, on a socket in a directory of its own. Ended by the destructor.
class redis_server
{
public:
    /// Starts the server and returns when it accepts connections. Throws `std::runtime_error` if it does not.
    explicit redis_server(std::vector<std::string> options = {});
    ~redis_server();
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    const std::string& socket() const noexcept { return socket_; }

private:
    std::string directory_;
    std::string socket_;
    pid_t process_ = -1;
};

} // namespace leasehold::test

#endif
