// The tool over TLS: `run` connects through the library, and the commands that read servers connect
// directly.
#include "server/servers.hpp"

#include "tool/tool_runs.hpp"

#include "support/print.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/tls_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace leasehold::test {
namespace {

using leasehold::tool::servers;
using leasehold::tool::unreachable;

/// The error text for a server; empty: the connection succeeds.
std::string refusal(const std::string& url)
{
    boost::asio::io_context context;
    servers found(context, redis_config(url));
    try {
        BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
        return {};
    }
    catch (const unreachable& failed) {
        return failed.what();
    }
}

/// Both kinds of connection to the server fail, each with its exit code.
void check_refused(const std::string& url, const std::string& why)
{
    const std::string said = refusal(url);
    const std::string server = url.substr(9, url.find('?') - 9);
    BOOST_TEST(said.starts_with(server + " "), said);
    BOOST_TEST(said.find(why) != said.npos, said);
    tool_runs runs;
    const ran listed = runs.run({"ls"}, url);
    BOOST_TEST(listed.code == 77);
    BOOST_TEST(listed.said == "leasehold: " + said + "\n");
    const ran locked = runs.run({"run", "--wait", "300ms", "stock", "--", "echo", "in"}, url);
    BOOST_TEST(locked.code == 77);
    BOOST_TEST(locked.lines.empty());
    BOOST_TEST(locked.said != "");
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_tls)

BOOST_AUTO_TEST_CASE(certificate_for_the_host_is_accepted)
{
    const tls_server there("DNS:localhost,IP:127.0.0.1");
    for (const char* const host : {"localhost", "127.0.0.1"}) {
        const std::string url = there.url(host, "ca=" + there.own.text);
        BOOST_TEST(refusal(url) == "");
        tool_runs runs;
        // The inner command sees through one kind of connection the lock that the outer one has
        // acquired through the other.
        const ran done = runs.run({"run", "stock", "--", tool, "ls"}, url);
        BOOST_TEST(done.code == 0);
        BOOST_TEST(done.said == "");
        BOOST_TEST(done.has("stock "));
    }
}

BOOST_AUTO_TEST_CASE(certificate_for_another_host_is_refused_if_verified)
{
    const tls_server there("DNS:elsewhere.example,IP:127.0.0.2");
    const std::string trusted = "ca=" + there.own.text;
    check_refused(there.url("localhost", trusted),
                  "shows a certificate for another host than 'localhost'");
    check_refused(there.url("127.0.0.1", trusted), "for another host than '127.0.0.1'");
    const std::string unseen = there.url("localhost", "verify=none");
    BOOST_TEST(refusal(unseen) == "");
    BOOST_TEST(tool_runs().run({"ls"}, unseen).code == 0);
    BOOST_TEST(tool_runs().run({"run", "stock", "--", "true"}, unseen).code == 0);
}

BOOST_AUTO_TEST_CASE(untrusted_certificate_is_refused_if_verified)
{
    const tls_server there("DNS:localhost");
    const certificate other(there.files, "other", "DNS:localhost");
    check_refused(there.url("localhost", "ca=" + other.text),
                  "shows a certificate that is not trusted: ");
    // The certificates of the system do not include it either.
    BOOST_TEST(refusal(there.url("localhost", "verify=full")).find("not trusted") !=
               std::string::npos);
    BOOST_TEST(refusal(there.url("localhost", "verify=none")) == "");
}

BOOST_AUTO_TEST_CASE(missing_file_of_trusted_certificates_is_named)
{
    const tls_server there("DNS:localhost");
    const ran done = tool_runs().run({"ls"}, there.url("localhost", "ca=/no/such/file"));
    BOOST_TEST(done.code == 77);
    BOOST_TEST(
        done.says("tls_ca_file is '/no/such/file', must be a readable file of PEM certificates"));
}

BOOST_AUTO_TEST_CASE(port_without_tls_is_refused_with_tls)
{
    const redis_server plain({}, {.tcp = true});
    const std::string port = std::to_string(plain.port());
    // Usually the server waits for the end of the line that it takes the handshake for.
    check_refused("rediss://127.0.0.1:" + port + "?timeout=300&verify=none",
                  "cannot be reached by TLS: ");
}

BOOST_AUTO_TEST_CASE(port_with_tls_is_refused_without_tls)
{
    const tls_server there("DNS:localhost");
    const std::string url = "redis://127.0.0.1:" + std::to_string(there.port.number());
    const ran done = tool_runs().run({"ls"}, url);
    BOOST_TEST(done.code == 77);
    BOOST_TEST(done.says("127.0.0.1:" + std::to_string(there.port.number())));
}

// Servers behind one address need the name. An address is not sent as a name.
BOOST_AUTO_TEST_CASE(handshake_contains_the_name_of_the_server)
{
    for (const char* const query : {"", "verify=none"}) {
        for (const char* const host : {"localhost", "127.0.0.1"}) {
            tls_greeting greeting;
            tool_runs runs;
            const auto asking = runs.start({"ls"}, greeting.url(host, query));
            const std::string wanted = std::string(host) == "localhost" ? host : "";
            BOOST_TEST(greeting.name() == wanted);
            const ran done = runs.finish(*asking);
            BOOST_TEST(done.code == 77);
            // The second text if the connection ends while the tool sends its request.
            BOOST_TEST(
                (done.says("has closed the connection") || done.says("Connection reset by peer")),
                done.said);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
