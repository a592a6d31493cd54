#ifndef LEASEHOLD_EXAMPLE_FENCED_FILES_SERVER_HPP
#define LEASEHOLD_EXAMPLE_FENCED_FILES_SERVER_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <filesystem>
#include <set>

namespace example {

/// A small HTTP server for files that only the holder of a lock may write. It knows nothing of
/// locks: a PUT has to carry the fence of its writer, `Lease-Fence: 123`, and one with a smaller
/// fence than the largest that wrote this file is answered with 412 and that fence. The fence is
/// kept beside the file, so that it outlives the server.
class fenced_file_server
{
public:
    /// @param port On the loopback address; 0: any that is free.
    fenced_file_server(boost::asio::io_context& context, std::filesystem::path directory,
                       std::uint16_t port);

    [[nodiscard]] boost::asio::ip::tcp::endpoint endpoint() const;

    /// Takes no more clients and closes what is open.
    void stop();

private:
    using request = boost::beast::http::request<boost::beast::http::string_body>;
    using response = boost::beast::http::response<boost::beast::http::string_body>;

    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket client);
    boost::asio::awaitable<response> answer(const request& asked);
    boost::asio::awaitable<response> use(const std::filesystem::path& path, const request& asked);
    response read(const std::filesystem::path& path) const;
    response write(const std::filesystem::path& path, const request& asked) const;

    std::filesystem::path directory_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::set<boost::asio::ip::tcp::socket*> clients_;
    boost::asio::thread_pool disk_{2}; ///< Where it is waited for the disk.
};

} // namespace example

#endif
