// Servers of ZooKeeper that reject a user or a connection, and servers that use TLS.
#include <boost/test/unit_test.hpp>

#include "support/fault_proxy.hpp"
#include "support/store_scene.hpp"
#include "support/tls_server.hpp"
#include "support/zookeeper_server.hpp"

#include <leasehold/zookeeper.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using contract::take;
using granted_t = acquire_reply::outcome;

struct scene : store_scene
{
    explicit scene(const std::string& url)
        : store_scene(make_zookeeper_store(zookeeper_config(url)))
    {}
};

std::string url_of(const std::string& address, const std::string& user = {})
{
    return "zookeeper://" + user + (user.empty() ? "" : "@") + address + "?tick=200&reconnect=10";
}

/// A server that also listens for TLS.
class zookeeper_with_tls
{
public:
    /// @param client_auth Whether clients need a certificate: "need" or "none".
    zookeeper_with_tls(const certificate& own, const certificate& of_clients,
                       const std::string& client_auth)
    {
        // The server is another user.
        std::filesystem::permissions(files_.path(), std::filesystem::perms::owner_all |
                                                        std::filesystem::perms::others_read |
                                                        std::filesystem::perms::others_exec);
        std::ofstream(files_.file("own.pem")) << text_of(own.key) << text_of(own.text);
        std::ofstream(files_.file("clients.pem")) << text_of(of_clients.text);
        server_.emplace(std::vector<std::string>{
            "secureClientPort=" + std::to_string(port_.number()),
            "secureClientPortAddress=127.0.0.1",
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
            "ssl.keyStore.type=PEM",
            "ssl.keyStore.location=" + files_.file("own.pem"),
            "ssl.trustStore.type=PEM",
            "ssl.trustStore.location=" + files_.file("clients.pem"),
            "ssl.clientAuth=" + client_auth,
        });
    }

    std::string url(const std::string& host, const std::string& query) const
    {
        return url_of(host + ':' + std::to_string(port_.number())) + "&tls=on&" + query;
    }

private:
    temporary_directory files_;
    reserved_port port_;
    std::optional<zookeeper_server> server_;
};

void check_acquire(const std::string& url)
{
    scene at(url);
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:1")).reply.result == release_reply::outcome::freed));
}

void check_refusal(const std::string& url, const std::string& cause)
{
    scene at(url);
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable), got.code);
    BOOST_TEST(contains(text_of(got), cause), text_of(got));
}

} // namespace

BOOST_AUTO_TEST_CASE(rejected_user_is_reported_without_the_password)
{
    zookeeper_server server({"DigestAuthenticationProvider.enabled=false"});
    scene at(url_of(server.address(), "orders:hidden"));
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::permission_denied), got.code);
    BOOST_TEST(contains(text_of(got), "server " + server.address()), text_of(got));
    BOOST_TEST(contains(text_of(got), "AuthFailed: the server rejects the user (-115)"),
               text_of(got));
    BOOST_TEST(!contains(text_of(got), "hidden"), text_of(got));
    BOOST_TEST(at.session.connected == 0);
}

BOOST_AUTO_TEST_CASE(user_with_a_password_file_is_accepted_after_a_rejection)
{
    zookeeper_server rejects({"DigestAuthenticationProvider.enabled=false"});
    zookeeper_server accepts;
    fault_proxy proxy(loopback_endpoint(rejects.port()));
    const temporary_directory directory;
    const std::string file = directory.file("password");
    std::ofstream(file) << "secret\n";
    scene at(url_of("127.0.0.1:" + std::to_string(proxy.port()), "orders") +
             "&password_file=" + file);
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_refused), got.code);
    BOOST_TEST(contains(text_of(got), "AuthFailed"), text_of(got));
    proxy.lead_to(loopback_endpoint(accepts.port()));
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(server_that_requires_a_login_rejects_a_client_without_a_user)
{
    zookeeper_server server({"enforce.auth.enabled=true", "enforce.auth.schemes=digest"});
    scene at(url_of(server.address()));
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::permission_denied), got.code);
    BOOST_TEST(contains(text_of(got), "the server requires a login"), text_of(got));
    BOOST_TEST(at.session.connected == 0);
    check_acquire(url_of(server.address(), "orders:secret"));
}

BOOST_AUTO_TEST_CASE(user_without_a_right_on_the_root_cannot_create_a_lock)
{
    zookeeper_server server;
    const std::string root = "/app/locks";
    const auto of_user = [&](const std::string& user) {
        return "zookeeper://" + user + "@" + server.address() + root + "?tick=200";
    };
    check_acquire(of_user("orders:secret"));
    scene wrong(of_user("orders:hidden"));
    wrong.connected();
    const auto got = wrong.session.acquire(take("new", "a:1"));
    BOOST_TEST((got.code == errc::permission_denied), got.code);
    BOOST_TEST(contains(text_of(got), "NoAuth: the user has no right to do this (-102)"),
               text_of(got));
    BOOST_TEST(!contains(text_of(got), "hidden"), text_of(got));
}

BOOST_AUTO_TEST_CASE(end_of_a_session_is_reported_after_the_user_was_rejected)
{
    zookeeper_server accepts;
    zookeeper_server rejects({"DigestAuthenticationProvider.enabled=false"});
    fault_proxy proxy(loopback_endpoint(accepts.port()));
    scene at(url_of("127.0.0.1:" + std::to_string(proxy.port()), "orders:secret") +
             "&session=1000");
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    // This server begins another session before it rejects the user.
    proxy.lead_to(loopback_endpoint(rejects.port()));
    proxy.reset_all();
    at.lost();
    at.session.until(
        [&] { return at.session.acquire(take("lock", "a:2")).code == errc::permission_denied; });
    BOOST_TEST(at.session.gone.empty());
    proxy.lead_to(loopback_endpoint(accepts.port()));
    at.connected_again();
    BOOST_TEST_REQUIRE(at.session.gone.size() == 1u);
    BOOST_TEST(at.session.gone.front().owner == "a:1");
}

BOOST_AUTO_TEST_CASE(certificate_of_the_server_is_verified)
{
    const temporary_directory files;
    const certificate own(files, "server", "DNS:localhost");
    const certificate other(files, "other", "DNS:localhost");
    const zookeeper_with_tls server(own, other, "none");
    check_acquire(server.url("localhost", "ca=" + own.text));
    check_acquire(server.url("localhost", "verify=none"));
    check_refusal(server.url("localhost", "ca=" + other.text),
                  "the server's certificate is not trusted");
    check_refusal(server.url("127.0.0.1", "ca=" + own.text),
                  "the server's certificate is for another host");
}

BOOST_AUTO_TEST_CASE(server_that_requires_a_client_certificate_rejects_other_clients)
{
    const temporary_directory files;
    const certificate own(files, "server", "DNS:localhost");
    const certificate client(files, "client", "DNS:client");
    const certificate untrusted(files, "untrusted", "DNS:client");
    const zookeeper_with_tls server(own, client, "need");
    const auto with = [](const certificate& sent) {
        return "&cert=" + sent.text + "&key=" + sent.key;
    };
    const std::string trusting = "ca=" + own.text;
    check_acquire(server.url("localhost", trusting + with(client)));
    for (const std::string& rejected : {std::string(), with(untrusted)})
        check_refusal(server.url("localhost", trusting + rejected),
                      "the server rejects the client's certificate, or requires one");
}
