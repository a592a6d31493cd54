#include "redis/connection/environment.hpp"

#include <leasehold_version.hpp>

#include <boost/asio/ip/host_name.hpp>

#include <chrono>
#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <cstdlib>
#include <unistd.h>
#endif

namespace leasehold::redis_store {
namespace {

std::string program_name()
{
#if defined(__GLIBC__)
    return program_invocation_short_name;
#elif defined(__APPLE__) || defined(__FreeBSD__)
    return ::getprogname();
#else
    return {};
#endif
}

class operating_system final : public environment
{
public:
    std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                                const redis_config& settings,
                                                connection::complaint complain) override
    {
        return redis_store::make_connection(strand, settings, std::move(complain));
    }

    std::unique_ptr<detail::time_source> make_time() override { return detail::make_system_time(); }

    client_info this_client() override
    {
        client_info said;
        error_code failed;
        said.host = asio::ip::host_name(failed);
        said.program = program_name();
        said.version = version;
#if defined(__unix__) || defined(__APPLE__)
        said.pid = ::getpid();
#endif
        said.since = std::chrono::floor<std::chrono::milliseconds>(
            std::chrono::system_clock::now());
        return said;
    }
};

} // namespace

std::shared_ptr<environment> system_environment()
{
    static const auto only = std::make_shared<operating_system>();
    return only;
}

} // namespace leasehold::redis_store
