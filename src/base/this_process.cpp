#include "base/this_process.hpp"

#include <leasehold_version.hpp>

#include <leasehold/error.hpp>

#include <boost/asio/ip/host_name.hpp>

#include <chrono>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <cstdlib>
#include <unistd.h>
#endif

namespace leasehold::detail {
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

} // namespace

client_info this_process()
{
    client_info info;
    error_code failed;
    info.host = boost::asio::ip::host_name(failed);
    info.program = program_name();
    info.version = version;
#if defined(__unix__) || defined(__APPLE__)
    info.pid = ::getpid();
#endif
    info.since = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return info;
}

} // namespace leasehold::detail
