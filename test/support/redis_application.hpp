#ifndef LEASEHOLD_TEST_SUPPORT_REDIS_APPLICATION_HPP
#define LEASEHOLD_TEST_SUPPORT_REDIS_APPLICATION_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace boost::redis {
class connection;
struct config;
} // namespace boost::redis

namespace leasehold::test {

/// An application with its own Redis connection, context and thread. Ended by the destructor.
class redis_application
{
public:
    explicit redis_application(const std::string& socket);
    explicit redis_application(std::uint16_t port); ///< On the loopback address.
    ~redis_application();
    redis_application(const redis_application&) = delete;
    redis_application& operator=(const redis_application&) = delete;

    std::shared_ptr<boost::redis::connection> connection() const;

private:
    explicit redis_application(boost::redis::config settings);

    struct state;
    std::unique_ptr<state> state_;
};

} // namespace leasehold::test

#endif
