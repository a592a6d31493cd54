#ifndef LEASEHOLD_TEST_SUPPORT_TLS_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_TLS_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/test/unit_test.hpp>

#include <openssl/ssl.h>

#include <chrono>
#include <optional>
#include <string>

// Servers that use TLS, with certificates made for the test.
namespace leasehold::test {

/// A key and a certificate that signs itself.
class certificate
{
public:
    certificate(const temporary_directory& directory, const std::string& name,
                const std::string& alternative_name)
        : key(directory.file(name + ".key")), text(directory.file(name + ".pem"))
    {
        child openssl({.command = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                   "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                                   text, "-days", "2", "-subj", "/CN=" + name, "-addext",
                                   "subjectAltName=" + alternative_name, "-batch"}});
        const auto ended = openssl.wait(std::chrono::seconds(30));
        BOOST_TEST_REQUIRE(ended.has_value());
        BOOST_TEST_REQUIRE(ended->code == 0);
    }

    std::string key;
    std::string text;
};

/// A Redis server that listens for TLS.
struct tls_server
{
    explicit tls_server(const std::string& alternative_name)
        : own(files, "server", alternative_name),
          server({"--tls-port", std::to_string(port.number()), "--bind", "127.0.0.1",
                  "--tls-cert-file", own.text, "--tls-key-file", own.key, "--tls-ca-cert-file",
                  own.text, "--tls-auth-clients", "no"})
    {}

    std::string url(const std::string& host, const std::string& query) const
    {
        return "rediss://" + host + ":" + std::to_string(port.number()) + "?reconnect=10&" + query;
    }

    temporary_directory files;
    certificate own;
    reserved_port port;
    redis_server server;
};

/// A server that only records the TLS handshake.
class tls_greeting
{
public:
    tls_greeting()
        : acceptor_(context_,
                    boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0))
    {}

    /// @param query If empty, the certificate of the server is trusted.
    std::string url(const std::string& host, const std::string& query) const
    {
        return "rediss://" + host + ":" + std::to_string(acceptor_.local_endpoint().port()) + "?" +
               (query.empty() ? "ca=" + own_.text : query);
    }

    /// The name that the first client requests. Empty: none.
    std::string name()
    {
        namespace ssl = boost::asio::ssl;
        ssl::context settings(ssl::context::tls_server);
        settings.use_certificate_chain_file(own_.text);
        settings.use_private_key_file(own_.key, ssl::context::pem);
        ssl::stream<boost::asio::ip::tcp::socket> stream(context_, settings);
        std::optional<boost::system::error_code> greeted;
        acceptor_.async_accept(stream.next_layer(), [&](boost::system::error_code failed) {
            if (failed)
                greeted = failed;
            else
                stream.async_handshake(ssl::stream_base::server,
                                       [&](boost::system::error_code ended) { greeted = ended; });
        });
        run_until(context_, [&] { return greeted.has_value(); }, std::chrono::seconds(30));
        BOOST_TEST(!*greeted, greeted->message());
        const char* const name = ::SSL_get_servername(stream.native_handle(),
                                                      TLSEXT_NAMETYPE_host_name);
        return name != nullptr ? name : "";
    }

private:
    temporary_directory files_;
    certificate own_{files_, "server", "DNS:localhost,IP:127.0.0.1"};
    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_;
};

} // namespace leasehold::test

#endif
