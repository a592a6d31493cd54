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

/// A small HTTP server for files that only the holder of a lock may write. It does not use locks:
/// a PUT must have the fence of its writer, `Lease-Fence: 123`. If a larger fence has written the
/// file before, the answer is 412 with that fence. The largest fence is kept beside the file, so
/// that it survives a restart.
class fenced_file_server
{
public:
    /// @param port On the loopback address; 0: any free port.
    fenced_file_server(boost::asio::io_context& context, std::filesystem::path directory,
                       std::uint16_t port);

    [[nodiscard]] boost::asio::ip::tcp::endpoint endpoint() const;

    /// Accepts no more clients and closes all connections.
    void stop();

private:
    using request = boost::beast::http::request<boost::beast::http::string_body>;
    using response = boost::beast::http::response<boost::beast::http::string_body>;

    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket client);
    boost::asio::awaitable<response> answer(const request& incoming);
    boost::asio::awaitable<response> use(const std::filesystem::path& path,
                                         const request& incoming);
    response read(const std::filesystem::path& path) const;
    response write(const std::filesystem::path& path, const request& incoming) const;

    std::filesystem::path directory_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::set<boost::asio::ip::tcp::socket*> clients_;
    boost::asio::thread_pool disk_{2}; ///< Waits for the disk.
};

} // namespace example

#endif
