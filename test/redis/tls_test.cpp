// `rediss:` against a real server with certificates made for the test.
#include <boost/test/unit_test.hpp>

#include "support/child.hpp"
#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <openssl/ssl.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

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
        const auto ended = openssl.wait(30s);
        BOOST_TEST_REQUIRE(ended.has_value());
        BOOST_TEST_REQUIRE(ended->code == 0);
    }

    std::string key;
    std::string text;
};

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

const lock_options patient{.wait_limit = 20s};

bool gets_in(const std::string& url)
{
    client_thread user{config(url)};
    auto mine = get(user.start_lock("stock", patient));
    return !mine.code && mine.held.valid() && !user.release(std::move(mine.held));
}

error_code refusal(const std::string& url)
{
    client_thread user{config(url)};
    auto mine = get(user.start_lock("stock", {.wait_limit = 300ms}));
    return mine.code;
}

/// The name that a client asks for when it greets the server; empty: none.
std::string name_asked_for(const std::string& host, const std::string& query)
{
    namespace ssl = boost::asio::ssl;
    using boost::asio::ip::tcp;
    const temporary_directory files;
    const certificate own(files, "server", "DNS:localhost,IP:127.0.0.1");
    ssl::context settings(ssl::context::tls_server);
    settings.use_certificate_chain_file(own.text);
    settings.use_private_key_file(own.key, ssl::context::pem);
    boost::asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    const client_thread user{config("rediss://" + host + ":" +
                                    std::to_string(acceptor.local_endpoint().port()) +
                                    "?reconnect=10&" + (query.empty() ? "ca=" + own.text : query))};
    ssl::stream<tcp::socket> stream(context, settings);
    std::optional<error_code> greeted;
    acceptor.async_accept(stream.next_layer(), [&](error_code failed) {
        if (failed)
            greeted = failed;
        else
            stream.async_handshake(ssl::stream_base::server,
                                   [&](error_code ended) { greeted = ended; });
    });
    run_until(context, [&] { return greeted.has_value(); }, 30s);
    BOOST_TEST(!*greeted, greeted->message());
    const char* const name = ::SSL_get_servername(stream.native_handle(),
                                                  TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "";
}

} // namespace

// Servers behind one address need it; an address is no name.
BOOST_AUTO_TEST_CASE(a_server_is_greeted_by_its_name)
{
    for (const char* const query : {"", "verify=none"}) {
        BOOST_TEST(name_asked_for("localhost", query) == "localhost");
        BOOST_TEST(name_asked_for("127.0.0.1", query) == "");
    }
}

BOOST_AUTO_TEST_CASE(a_certificate_for_the_host_is_accepted)
{
    const tls_server there("DNS:localhost,IP:127.0.0.1");
    BOOST_TEST(gets_in(there.url("localhost", "ca=" + there.own.text)));
    BOOST_TEST(gets_in(there.url("127.0.0.1", "ca=" + there.own.text)));
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_host_is_refused)
{
    const tls_server there("DNS:elsewhere.example");
    BOOST_TEST((refusal(there.url("localhost", "ca=" + there.own.text)) == condition::store_fault));
    BOOST_TEST(gets_in(there.url("localhost", "verify=none")));
}

BOOST_AUTO_TEST_CASE(a_certificate_that_nobody_vouches_for_is_refused)
{
    const tls_server there("DNS:localhost");
    const certificate other(there.files, "other", "DNS:localhost");
    BOOST_TEST((refusal(there.url("localhost", "ca=" + other.text)) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_refused)
{
    const redis_server plain({}, {.tcp = true});
    BOOST_TEST((refusal("rediss://127.0.0.1:" + std::to_string(plain.port()) +
                        "?verify=none&reconnect=10") == condition::store_fault));
}
