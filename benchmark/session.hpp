#ifndef LEASEHOLD_BENCHMARK_SESSION_HPP
#define LEASEHOLD_BENCHMARK_SESSION_HPP

#include <leasehold.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

namespace leasehold::benchmark {

/// A client that runs until the end of the scope, and is shut down in order then.
class session
{
public:
    session(asio::io_context& context, const std::string& url);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    client& locks() noexcept { return locks_; }

private:
    asio::io_context& context_;
    client locks_;
};

} // namespace leasehold::benchmark

#endif
