// `rediss:` against a real server with certificates made for the test.
#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/redis_server.hpp"
#include "support/tls_server.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
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
