#include "server_connection.hpp"

#include "interruption.hpp"

#include "base/tls.hpp"
#include "redis/config/credentials.hpp"
#include "redis/connection/settings.hpp"
#include "redis/protocol/reply.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace leasehold::tool {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;
using socket_type = asio::generic::stream_protocol::socket;

namespace {

bool is_closed(error_code failed)
{
    return failed == asio::error::eof || failed == asio::ssl::error::stream_truncated;
}

asio::ssl::context read_files(const redis_config& where)
try {
    return redis_store::tls_settings(where);
}
catch (const boost::system::system_error& wrong) {
    const std::string_view text = wrong.what();
    throw unreachable(std::string(text.substr(0, text.rfind(": "))));
}

/// @param other_host Set to true if the certificate is trusted, but for another host. Outlives the
/// context.
asio::ssl::context tls_context(const connection_settings& settings, const std::string& host,
                               bool& other_host)
{
    namespace ssl = asio::ssl;
    ssl::context made = read_files(settings.where);
    if (!settings.where.tls_verify)
        return made;
    made.set_verify_callback([is_named = ssl::host_name_verification(host),
                              &other_host](bool trusted, ssl::verify_context& shown) {
        const bool accepted = is_named(trusted, shown);
        other_host = trusted && !accepted;
        return accepted;
    });
    return made;
}

} // namespace

struct server_connection::state
{
    using tls_stream = asio::ssl::stream<socket_type&>;

    state(asio::io_context& of, const connection_settings& with, std::string called)
        : context(of), settings(with), name(std::move(called)), socket(of), resolver(of)
    {}

    [[noreturn]] void fail(const std::string& why)
    {
        error_code ignored;
        socket.close(ignored);
        resolver.cancel();
        throw unreachable(name + " " + why);
    }

    /// The result of an operation. The handler may run after the wait has timed out.
    struct outcome
    {
        bool done = false;
        error_code failed{};
        std::size_t bytes = 0;
    };
    struct handler
    {
        std::shared_ptr<outcome> to;
        void operator()(error_code failed) const { *to = {true, failed}; }
        void operator()(error_code failed, std::size_t bytes) const { *to = {true, failed, bytes}; }
    };

    /// Runs one operation to its end. If the result is not done, the timeout has passed.
    /// @param start Starts the operation with the handler.
    template <class Start>
    outcome wait_for(Start start)
    {
        if (is_interrupted(context))
            throw interrupted();
        const auto ended = std::make_shared<outcome>();
        start(handler{ended});
        context.restart();
        while (!ended->done) {
            if (context.run_one_until(deadline) == 0 && steady::now() >= deadline)
                break;
            if (is_interrupted(context)) {
                error_code ignored;
                socket.close(ignored);
                throw interrupted();
            }
            if (context.stopped())
                context.restart();
        }
        return *ended;
    }

    [[nodiscard]] std::string too_late() const
    {
        return "does not answer within " + std::to_string(settings.where.timeout.count()) + " ms";
    }

    /// The same as `wait_for`, but throws on an error.
    /// @returns The number of transferred bytes.
    template <class Start>
    std::size_t finish(Start start)
    {
        const outcome ended = wait_for(start);
        if (!ended.done)
            fail(too_late());
        if (is_closed(ended.failed))
            fail("has closed the connection");
        if (ended.failed)
            fail("cannot be reached: " + ended.failed.message());
        return ended.bytes;
    }

    void limit() { deadline = steady::now() + settings.where.timeout; }

    void connect(const redis_config::address& at)
    {
        using asio::ip::tcp;
        struct found_addresses
        {
            tcp::resolver::results_type all;
        };
        const auto found = std::make_shared<found_addresses>();
        finish([&](const handler& then) {
            resolver.async_resolve(
                at.host, std::to_string(at.port),
                [found, then](error_code failed, tcp::resolver::results_type all) {
                    found->all = std::move(all);
                    then(failed);
                });
        });
        std::optional<unreachable> last;
        for (const auto& each : found->all) {
            try {
                finish([&](const handler& then) { socket.async_connect(each.endpoint(), then); });
                last.reset();
                break;
            }
            catch (const unreachable& failed) {
                last = failed;
                if (steady::now() >= deadline)
                    break;
            }
        }
        if (last)
            throw unreachable(*last);
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
    }

    void connect(const std::string& path)
    {
        finish([&](const handler& then) {
            socket.async_connect(asio::local::stream_protocol::endpoint(path), then);
        });
    }

    void secure(const std::string& host)
    {
        tls.emplace(tls_context(settings, host, other_host));
        stream.emplace(socket, *tls);
        detail::ask_for_name(stream->native_handle(), host);
        const outcome ended = wait_for([&](const handler& then) {
            stream->async_handshake(asio::ssl::stream_base::client, then);
        });
        if (ended.done && !ended.failed)
            return;
        if (other_host)
            fail("shows a certificate for another host than '" + host + "'");
        const long verdict = ::SSL_get_verify_result(stream->native_handle());
        if (settings.where.tls_verify && verdict != X509_V_OK)
            fail(std::string("shows a certificate that is not trusted: ") +
                 ::X509_verify_cert_error_string(verdict));
        // A port without TLS does not understand the handshake, and behaves like this.
        fail("cannot be reached by TLS: " + (!ended.done               ? "it " + too_late()
                                             : is_closed(ended.failed) ? "it closes the connection"
                                                                       : ended.failed.message()));
    }

    void write(const std::string& bytes)
    {
        finish([&](const handler& then) {
            if (stream)
                asio::async_write(*stream, asio::buffer(bytes), then);
            else
                asio::async_write(socket, asio::buffer(bytes), then);
        });
    }

    resp_value read()
    {
        for (;;) {
            try {
                if (auto value = reader.next())
                    return std::move(*value);
            }
            catch (const resp_error& wrong) {
                fail(std::string("is not a Redis server: ") + wrong.what());
            }
            const std::size_t count = finish([&](const handler& then) {
                if (stream)
                    stream->async_read_some(asio::buffer(input), then);
                else
                    socket.async_read_some(asio::buffer(input), then);
            });
            reader.add({input.data(), count});
        }
    }

    asio::io_context& context;
    connection_settings settings;
    std::string name;
    socket_type socket;
    asio::ip::tcp::resolver resolver;
    bool other_host = false; ///< The server's certificate is trusted, but for another host.
    std::optional<asio::ssl::context> tls;
    std::optional<tls_stream> stream;
    steady::time_point deadline;
    resp_reader reader;
    std::array<char, 16 * 1024> input;
};

connection_settings settings_of(const redis_config& where)
try {
    const redis_config::credentials as = redis_store::credentials_for(where);
    return {where, as.user, as.password, where.database};
}
catch (const std::runtime_error& failed) {
    throw unreachable(failed.what());
}

connection_settings sentinel_settings_of(const redis_config& where)
try {
    const redis_config::credentials as = redis_store::sentinel_credentials_for(where);
    return {where, as.user, as.password, 0};
}
catch (const std::runtime_error& failed) {
    throw unreachable(failed.what());
}

server_connection::server_connection(asio::io_context& context, const connection_settings& settings,
                                     const redis_config::address& at, const std::string& socket)
    : state_(std::make_unique<state>(context, settings, socket.empty() ? name_of(at) : socket))
{
    state_->limit();
    if (!socket.empty())
        state_->connect(socket);
    else
        state_->connect(at);
    if (settings.where.tls)
        state_->secure(at.host);

    command_words hello{"HELLO", "3"};
    if (!settings.user.empty() || !settings.password.empty()) {
        for (const std::string& each :
             {std::string("AUTH"), settings.user.empty() ? "default" : settings.user,
              settings.password})
            hello.push_back(each);
    }
    if (const resp_value answer = ask(hello); answer.is_error()) {
        const std::string rejected = redis_store::hello_rejection(answer.text);
        throw refused(name() + " rejects HELLO: " + (rejected.empty() ? answer.text : rejected));
    }
    if (settings.database != 0)
        static_cast<void>(demand({"SELECT", std::to_string(settings.database)}));
}

server_connection::server_connection(server_connection&&) noexcept = default;
server_connection& server_connection::operator=(server_connection&&) noexcept = default;

server_connection::~server_connection()
{
    if (!state_)
        return;
    // Operations that have timed out end, or are destroyed, while their buffers still exist.
    error_code ignored;
    state_->socket.close(ignored);
    state_->resolver.cancel();
    try {
        state_->context.restart();
        state_->context.poll();
    }
    catch (...) { // thrown by another handler
    }
}

resp_value server_connection::ask(const command_words& words)
{
    return std::move(ask_all({words}).front());
}

std::vector<resp_value> server_connection::ask_all(const std::vector<command_words>& commands)
{
    std::string bytes;
    for (const command_words& each : commands)
        append_command(each, bytes);
    state_->limit();
    state_->write(bytes);
    std::vector<resp_value> answers;
    answers.reserve(commands.size());
    while (answers.size() < commands.size())
        answers.push_back(state_->read());
    return answers;
}

resp_value server_connection::demand(const command_words& words)
{
    resp_value answer = ask(words);
    if (answer.is_error())
        throw refused(name() + " rejects " + words.front() + ": " + answer.text);
    return answer;
}

bool server_connection::is_open() const noexcept
{
    return state_->socket.is_open();
}

const std::string& server_connection::name() const noexcept
{
    return state_->name;
}

} // namespace leasehold::tool
