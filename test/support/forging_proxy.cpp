#include "support/forging_proxy.hpp"

#include "support/directory.hpp"
#include "support/port.hpp"
#include "support/resp.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#if __has_include(<linux/sockios.h>)
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace asio = boost::asio;

namespace {

using boost::system::error_code;
using socket_t = asio::generic::stream_protocol::socket;

struct connection
{
    connection(asio::io_context& context, socket_t accepted)
        : client(std::move(accepted)), server(context)
    {}

    socket_t client;
    socket_t server;
    std::array<char, 16384> from_client{};
    std::array<char, 16384> from_server{};
    std::string unread; ///< Part of a request.
    bool forged = false;
    forging_proxy::pieces answer;
    std::size_t sent = 0;
};

using connection_ptr = std::shared_ptr<connection>;

// Whether the peer has read all written bytes, as far as the system reports.
bool is_read([[maybe_unused]] socket_t& socket)
{
#ifdef SIOCOUTQ
    int unread = 0;
    return ::ioctl(socket.native_handle(), SIOCOUTQ, &unread) != 0 || unread == 0;
#else
    return true;
#endif
}

} // namespace

class forging_proxy::engine
{
public:
    engine(const stream_endpoint& upstream, bool tcp) : upstream_(upstream)
    {
        if (tcp)
            port_.emplace();
        else
            directory_.emplace();
        const stream_endpoint here = tcp ? loopback_endpoint(port_->number())
                                         : local_endpoint(path());
        acceptor_.open(here.protocol());
        if (tcp)
            acceptor_.set_option(asio::socket_base::reuse_address(true));
        acceptor_.bind(here);
        acceptor_.listen();
        accept();
        thread_ = std::thread([this] { context_.run(); });
    }

    ~engine()
    {
        context_.stop();
        thread_.join();
    }

    std::string path() const { return (directory_->path() / "forged").string(); }
    std::uint16_t port() const { return port_ ? port_->number() : std::uint16_t(0); }

    void forge(std::string text, std::vector<pieces> answers)
    {
        const std::lock_guard lock(mutex_);
        text_ = std::move(text);
        answers_.assign(std::make_move_iterator(answers.begin()),
                        std::make_move_iterator(answers.end()));
    }

    std::size_t left() const
    {
        const std::lock_guard lock(mutex_);
        return answers_.size();
    }

    void wait_until_ended(std::chrono::milliseconds limit)
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [&] { return answers_.empty() && open_ == 0; }))
            throw std::runtime_error("forging_proxy: " + std::to_string(answers_.size()) +
                                     " answers are left, " + std::to_string(open_) +
                                     " connections go on");
    }

private:
    void accept()
    {
        acceptor_.async_accept([this](error_code failed, socket_t accepted) {
            if (failed)
                return;
            begin(std::make_shared<connection>(context_, std::move(accepted)));
            accept();
        });
    }

    void begin(const connection_ptr& link)
    {
        link->server.async_connect(upstream_, [this, link](error_code failed) {
            if (failed)
                return close(link);
            read_client(link);
            read_server(link);
        });
    }

    void read_client(const connection_ptr& link)
    {
        link->client.async_read_some(asio::buffer(link->from_client),
                                     [this, link](error_code failed, std::size_t size) {
                                         if (failed)
                                             return close(link);
                                         link->unread.append(link->from_client.data(), size);
                                         pass_requests(link);
                                         read_client(link);
                                     });
    }

    void pass_requests(const connection_ptr& link)
    {
        while (!link->forged) {
            const auto request = parse_resp(link->unread);
            if (!request)
                return;
            const std::string_view bytes =
                std::string_view(link->unread).substr(0, request->second);
            if (take_answer(link, bytes))
                return send_answer(link);
            error_code failed;
            asio::write(link->server, asio::buffer(bytes), failed);
            link->unread.erase(0, request->second);
        }
    }

    bool take_answer(const connection_ptr& link, std::string_view request)
    {
        const std::lock_guard lock(mutex_);
        if (answers_.empty() || request.find(text_) == std::string_view::npos)
            return false;
        link->answer = std::move(answers_.front());
        answers_.pop_front();
        link->forged = true;
        ++open_;
        return true;
    }

    void send_answer(const connection_ptr& link)
    {
        if (!link->client.is_open() || link->sent == link->answer.size())
            return;
        if (is_read(link->client)) {
            error_code failed;
            asio::write(link->client, asio::buffer(link->answer[link->sent++]), failed);
            if (failed)
                return; // the read detects its end
        }
        // There is no event when the peer has read.
        asio::post(context_, [this, link] { send_answer(link); });
    }

    void read_server(const connection_ptr& link)
    {
        link->server.async_read_some(
            asio::buffer(link->from_server), [this, link](error_code failed, std::size_t size) {
                if (failed)
                    return;
                if (!link->forged)
                    asio::write(link->client, asio::buffer(link->from_server.data(), size), failed);
                read_server(link);
            });
    }

    void close(const connection_ptr& link)
    {
        error_code ignored;
        link->client.close(ignored);
        link->server.close(ignored);
        if (!link->forged)
            return;
        {
            const std::lock_guard lock(mutex_);
            --open_;
        }
        changed_.notify_all();
    }

    const stream_endpoint upstream_;
    std::optional<temporary_directory> directory_;
    std::optional<reserved_port> port_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
    asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor_{context_};

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
    std::deque<pieces> answers_;
    std::size_t open_ = 0; ///< Connections that got a forged reply and continue.

    std::thread thread_;
};

forging_proxy::forging_proxy(const redis_server& upstream, bool tcp)
    : engine_(std::make_unique<engine>(upstream.endpoint(), tcp))
{}
forging_proxy::~forging_proxy() = default;

std::string forging_proxy::url() const
{
    if (port() == 0)
        return "unix://" + engine_->path();
    return "redis://127.0.0.1:" + std::to_string(port());
}

std::uint16_t forging_proxy::port() const noexcept
{
    return engine_->port();
}

void forging_proxy::forge(std::string text, std::vector<pieces> answers)
{
    engine_->forge(std::move(text), std::move(answers));
}

std::size_t forging_proxy::left() const
{
    return engine_->left();
}

void forging_proxy::wait_until_ended(std::chrono::milliseconds limit)
{
    engine_->wait_until_ended(limit);
}

} // namespace leasehold::test
