// `rediss:` against a real server with certificates made for the test.
#include <boost/test/unit_test.hpp>

#include "support/child.hpp"
#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/tls_server.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

const lock_options patient{.wait_limit = 20s};

bool can_lock(const std::string& url)
{
    client_thread user{redis_config(url)};
    auto mine = get(user.start_lock("stock", patient));
    return !mine.code && mine.held.valid() && !user.release(std::move(mine.held));
}

error_code refusal(const std::string& url)
{
    client_thread user{redis_config(url)};
    auto mine = get(user.start_lock("stock", {.wait_limit = 300ms}));
    return mine.code;
}

/// The name that a client sends in the handshake. Empty: none.
std::string name_asked_for(const std::string& host, const std::string& query)
{
    tls_greeting greeting;
    const client_thread user{redis_config(greeting.url(host, query) + "&reconnect=10")};
    return greeting.name();
}

/// A Sentinel that serves TLS and knows one master, named "m", with the certificate of that master.
struct tls_sentinel
{
    explicit tls_sentinel(const tls_server& master)
    {
        const std::string file = master.files.file("sentinel.conf");
        std::ofstream(file) << "port 0\ntls-port " << port.number() << "\nbind 127.0.0.1\ndir "
                            << master.files.path().string() << "\ntls-cert-file " << master.own.text
                            << "\ntls-key-file " << master.own.key << "\ntls-ca-cert-file "
                            << master.own.text << "\ntls-auth-clients no\ntls-replication yes\n"
                            << "sentinel monitor m 127.0.0.1 " << master.port.number() << " 1\n";
        process = child({.command = {"redis-server", file, "--sentinel"}});
    }

    std::string url(const std::string& query) const
    {
        return "rediss+sentinel://localhost:" + std::to_string(port.number()) + "/m?reconnect=10&" +
               query;
    }

    reserved_port port;
    child process;
};

/// The files of a client's certificate, as a query of a URL.
std::string identity(const certificate& of)
{
    return "&cert=" + of.text + "&key=" + of.key;
}

std::string construction_error(const std::string& url)
{
    try {
        static_cast<void>(make_redis_store(url));
        return {};
    }
    catch (const boost::system::system_error& refused) {
        BOOST_TEST((refused.code() == errc::invalid_option));
        return refused.what();
    }
}

} // namespace

// Several servers behind one address need the name. An address is not a name.
BOOST_AUTO_TEST_CASE(handshake_names_the_host_unless_it_is_an_address)
{
    for (const char* const query : {"", "verify=none"}) {
        BOOST_TEST(name_asked_for("localhost", query) == "localhost");
        BOOST_TEST(name_asked_for("127.0.0.1", query) == "");
    }
}

BOOST_AUTO_TEST_CASE(certificate_for_the_host_is_accepted)
{
    const tls_server there("DNS:localhost,IP:127.0.0.1");
    BOOST_TEST(can_lock(there.url("localhost", "ca=" + there.own.text)));
    BOOST_TEST(can_lock(there.url("127.0.0.1", "ca=" + there.own.text)));
}

BOOST_AUTO_TEST_CASE(certificate_for_another_host_is_rejected)
{
    const tls_server there("DNS:elsewhere.example");
    BOOST_TEST((refusal(there.url("localhost", "ca=" + there.own.text)) == condition::store_fault));
    BOOST_TEST(can_lock(there.url("localhost", "verify=none")));
}

BOOST_AUTO_TEST_CASE(untrusted_certificate_is_rejected)
{
    const tls_server there("DNS:localhost");
    const certificate other(there.files, "other", "DNS:localhost");
    BOOST_TEST((refusal(there.url("localhost", "ca=" + other.text)) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(server_without_tls_is_rejected)
{
    const redis_server plain({}, {.tcp = true});
    BOOST_TEST((refusal("rediss://127.0.0.1:" + std::to_string(plain.port()) +
                        "?verify=none&reconnect=10") == condition::store_fault));
}

// Certificates are replaced while programs run.
BOOST_AUTO_TEST_CASE(certificate_authority_is_read_again_for_each_connection)
{
    tls_server there("DNS:localhost");
    const certificate other(there.files, "other", "DNS:localhost");
    const std::string authority = there.files.file("authority.pem");
    std::filesystem::copy_file(there.own.text, authority);
    client_thread user(redis_config(there.url("localhost", "ca=" + authority)));
    BOOST_TEST(user.lock("stock", patient).held.valid());

    // While the file cannot be read, each attempt fails with that cause.
    std::filesystem::remove(authority);
    user.seen().clear();
    resp_client admin = there.server.connect();
    BOOST_TEST(!admin
                    .command({"CONFIG", "SET", "tls-cert-file", other.text, "tls-key-file",
                              other.key, "tls-ca-cert-file", other.text})
                    .is_error());
    BOOST_TEST(!admin.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}).is_error());
    wait_until([&] {
        const auto errors = user.seen().events(recording_observer::kind::store_error);
        return std::any_of(errors.begin(), errors.end(), [&](const auto& each) {
            return each.name.find("tls_ca_file is '" + authority) != std::string::npos;
        });
    });

    std::filesystem::copy_file(other.text, authority);
    BOOST_TEST(user.lock("another", patient).held.valid());
}

BOOST_AUTO_TEST_CASE(unreadable_certificate_authority_is_a_construction_error)
{
    BOOST_CHECK_EXCEPTION(
        refusal("rediss://localhost?ca=/no/such/file"), boost::system::system_error,
        [](const boost::system::system_error& e) { return e.code() == errc::invalid_option; });
}

BOOST_AUTO_TEST_CASE(server_that_requests_a_certificate_of_the_client_gets_it)
{
    tls_server there("DNS:localhost");
    const certificate mine(there.files, "client", "DNS:client");
    const certificate other(there.files, "other", "DNS:client");
    BOOST_TEST(
        !there.server.connect()
             .command({"CONFIG", "SET", "tls-auth-clients", "yes", "tls-ca-cert-file", mine.text})
             .is_error());
    const std::string url = there.url("localhost", "ca=" + there.own.text);
    BOOST_TEST(can_lock(url + identity(mine)));
    BOOST_TEST((refusal(url) == condition::store_fault));
    BOOST_TEST((refusal(url + identity(other)) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(unusable_certificate_of_the_client_is_a_construction_error)
{
    const temporary_directory files;
    const certificate mine(files, "client", "DNS:client");
    const certificate other(files, "other", "DNS:client");
    const std::string url = "rediss://localhost?verify=none";
    BOOST_TEST(construction_error(url + identity(mine)) == "");
    BOOST_TEST(construction_error(url + "&cert=/none&key=" + mine.key)
                   .starts_with("tls_cert_file is '/none', must be a readable file of a PEM "
                                "certificate chain"));
    for (const std::string& key : {std::string("/none"), other.key})
        BOOST_TEST(construction_error(url + "&cert=" + mine.text + "&key=" + key)
                       .starts_with("tls_key_file is '" + key +
                                    "', must be a readable file of the PEM key of tls_cert_file, "
                                    "without a password"));
    redis_config without_tls;
    without_tls.tls_cert_file = mine.text;
    BOOST_CHECK_THROW(without_tls.validate(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(quorum_over_tls_grants_locks)
{
    const tls_server a("DNS:localhost");
    const tls_server b("DNS:localhost");
    const tls_server c("DNS:localhost");
    const std::string authorities = a.files.file("authorities.pem");
    std::string url = "rediss+redlock://";
    for (const tls_server* each : {&a, &b, &c}) {
        std::ofstream(authorities, std::ios::app) << std::ifstream(each->own.text).rdbuf();
        url += (each == &a ? "localhost:" : ",localhost:") + std::to_string(each->port.number());
    }
    BOOST_TEST(can_lock(url + "?reconnect=10&ca=" + authorities));
    BOOST_TEST((refusal(url + "?reconnect=10&ca=" + a.own.text) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(sentinel_and_its_master_are_reached_over_tls)
{
    const tls_server there("DNS:localhost,IP:127.0.0.1");
    const tls_sentinel names(there);
    BOOST_TEST(can_lock(names.url("ca=" + there.own.text)));
}

// A Sentinel reports the address of the master: that is the name in the certificate.
BOOST_AUTO_TEST_CASE(master_with_a_certificate_for_another_host_is_rejected)
{
    const tls_server there("DNS:localhost");
    const tls_sentinel names(there);
    BOOST_TEST((refusal(names.url("ca=" + there.own.text)) == condition::store_fault));
    BOOST_TEST(can_lock(names.url("verify=none")));
}
