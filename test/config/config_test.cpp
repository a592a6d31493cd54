#include <boost/test/unit_test.hpp>

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

using namespace leasehold;
using namespace std::chrono_literals;

template <class Function>
boost::system::system_error failure_of(Function function)
{
    try {
        function();
    }
    catch (const boost::system::system_error& error) {
        return error;
    }
    BOOST_TEST_ERROR("nothing was thrown");
    return boost::system::system_error(error_code());
}

/// The URL is refused with this code, and the error text contains these texts and no secret.
void refused(const std::string& url, errc code, std::initializer_list<const char*> says)
{
    BOOST_TEST_CONTEXT(url)
    {
        const auto error = failure_of([&] {
            if (std::string_view(url).starts_with("memory:"))
                static_cast<void>(make_store(url));
            else
                static_cast<void>(redis_config(url));
        });
        const std::string text = error.what();
        BOOST_TEST((error.code() == code));
        for (const char* each : says)
            BOOST_TEST_CONTEXT(text)
            {
                BOOST_TEST((text.find(each) != std::string::npos));
            }
        BOOST_TEST((text.find("secret") == std::string::npos));
    }
}

template <class Options>
void invalid(const Options& c, std::initializer_list<const char*> says)
{
    const auto error = failure_of([&] { c.validate(); });
    BOOST_TEST((error.code() == errc::invalid_option));
    const std::string text = error.what();
    for (const char* each : says)
        BOOST_TEST_CONTEXT(text)
        {
            BOOST_TEST((text.find(each) != std::string::npos));
        }
}

constexpr bool is_last(std::uint32_t value)
{
    return value == std::numeric_limits<std::uint32_t>::max();
}
constexpr bool is_last(std::chrono::milliseconds value)
{
    return value == std::chrono::milliseconds::max();
}

/// A value within the limits may be in the member, and the next value beyond them may not. The last
/// value of the type is no limit, and neither is a zero without a sign.
template <class Options, class Member>
void within(const char* name, const Options& start, Member Options::* member,
            std::type_identity_t<Member> least, std::type_identity_t<Member> most)
{
    const Member smallest_step(1);
    const auto with = [&](Member value) {
        Options changed = start;
        changed.*member = value;
        return changed;
    };
    BOOST_TEST_CONTEXT(name)
    {
        BOOST_CHECK_NO_THROW(with(least).validate());
        BOOST_CHECK_NO_THROW(with(most).validate());
        if (!std::is_unsigned_v<Member> || least != Member())
            invalid(with(least - smallest_step), {name});
        if (!is_last(most))
            invalid(with(most + smallest_step), {name});
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(url_of_a_server_sets_each_field)
{
    const redis_config c(
        "redis://al%40ice:se%2Fcr%20et@Example.com:7000/"
        "3?timeout=100&health_check=200&reconnect=10&layout=redisson&fence_retention=60");
    BOOST_TEST((c.kind == redis_config::deployment::server));
    BOOST_TEST((c.addresses == std::vector<redis_config::address>{{"Example.com", 7000}}));
    BOOST_TEST(c.user == "al@ice");
    BOOST_TEST(c.password == "se/cr et");
    BOOST_TEST(c.database == 3u);
    BOOST_TEST((c.timeout == 100ms && c.health_check == 200ms && c.reconnect == 10ms &&
                c.fence_retention == 60s));
    BOOST_TEST(!c.tls);
    c.validate();
}

BOOST_AUTO_TEST_CASE(parameter_that_is_left_out_has_its_default)
{
    const redis_config c("REDIS://host");
    BOOST_TEST((c.addresses == std::vector<redis_config::address>{{"host", 6379}}));
    BOOST_TEST((c.user.empty() && c.password.empty()));
    BOOST_TEST(c.database == 0u);
    BOOST_TEST((c.layout == redis_config::key_layout::native));
    BOOST_TEST(c.client_info);
    BOOST_TEST((!c.tls && c.tls_verify && c.tls_ca_file.empty()));
    BOOST_TEST(redis_config("redis://host/").database == 0u);
    BOOST_TEST(redis_config("redis://:pw@host").password == "pw");
    BOOST_TEST(
        (redis_config("redis://host?layout=redisson&fence_retention=forever").fence_retention ==
         redis_config::forever));
    redis_config().validate();
}

BOOST_AUTO_TEST_CASE(url_can_switch_client_info_off)
{
    BOOST_TEST(redis_config("redis://host").client_info);
    BOOST_TEST(redis_config("redis://host?client_info=on").client_info);
    BOOST_TEST(!redis_config("redis+cluster://host?client_info=off").client_info);
    refused("redis://host?client_info=no", errc::invalid_url, {"client_info", "on or off"});
    BOOST_TEST(redis_config("redlock://a,b,c").client_info);
    BOOST_TEST(!redis_config("redlock://a,b,c?client_info=off").client_info);
}

BOOST_AUTO_TEST_CASE(address_may_be_ipv4_or_ipv6)
{
    BOOST_TEST((redis_config("redis://[::1]:7000").addresses.front() ==
                redis_config::address{"::1", 7000}));
    BOOST_TEST((redis_config("redis://[fe80::1]").addresses.front() ==
                redis_config::address{"fe80::1", 6379}));
    BOOST_TEST((redis_config("redis://10.0.0.1:65535").addresses.front() ==
                redis_config::address{"10.0.0.1", 65535}));
}

// It should be percent-encoded. If it is not, the last one ends the password.
BOOST_AUTO_TEST_CASE(password_may_contain_an_at_sign)
{
    for (const char* url : {"redis://u:p@ss@host:7000", "redis://u:p%40ss@host:7000"}) {
        const redis_config c(url);
        BOOST_TEST(c.user == "u");
        BOOST_TEST(c.password == "p@ss");
        BOOST_TEST((c.addresses.front() == redis_config::address{"host", 7000}));
    }
}

BOOST_AUTO_TEST_CASE(tls_url_sets_the_fields_of_tls)
{
    const redis_config c("rediss://host?ca=%2Fetc%2Fca.pem&verify=none");
    BOOST_TEST(c.tls);
    BOOST_TEST(!c.tls_verify);
    BOOST_TEST(c.tls_ca_file == "/etc/ca.pem");
    BOOST_TEST(redis_config("rediss://host").tls_verify);
}

BOOST_AUTO_TEST_CASE(unix_url_sets_the_local_socket)
{
    const redis_config c("unix:///run/my%20redis.sock?db=2");
    BOOST_TEST(c.unix_socket == "/run/my redis.sock");
    BOOST_TEST(c.database == 2u);
    BOOST_TEST(redis_config("unix://u:p@/run/s").password == "p");
    c.validate();
}

BOOST_AUTO_TEST_CASE(sentinel_url_sets_sentinels_and_master)
{
    const redis_config c("redis+sentinel://u:p@h1,h2:7000,[::1]:7001/my%20master/"
                         "4?sentinel_user=su&sentinel_password=s%40p");
    BOOST_TEST((c.kind == redis_config::deployment::sentinel));
    BOOST_TEST((c.addresses ==
                std::vector<redis_config::address>{{"h1", 26379}, {"h2", 7000}, {"::1", 7001}}));
    BOOST_TEST(c.master == "my master");
    BOOST_TEST(c.database == 4u);
    BOOST_TEST((c.user == "u" && c.password == "p" && c.sentinel_user == "su" &&
                c.sentinel_password == "s@p"));
    c.validate();
}

BOOST_AUTO_TEST_CASE(password_has_one_source)
{
    const redis_config c("redis+sentinel://u@h/m?password_file=%2Frun%2Fa&"
                         "sentinel_password_file=%2Frun%2Fb");
    BOOST_TEST((c.user == "u" && c.password_file == "/run/a" && c.password.empty()));
    BOOST_TEST(c.sentinel_password_file == "/run/b");
    c.validate();
    refused("redis://u:secret@h?password_file=f", errc::invalid_url,
            {"password_file", "'f'", "empty with a password"});
    refused("redis+sentinel://h/m?sentinel_password=secret&sentinel_password_file=f",
            errc::invalid_url, {"sentinel_password_file", "'f'", "empty with a sentinel_password"});
    refused("redis://h?sentinel_password_file=f", errc::invalid_url, {"parameter"});
    refused("redis://h?password_file=%00", errc::invalid_url, {"password_file", "NUL"});

    const auto with_source = [](auto change) {
        redis_config made("redis+sentinel://h/m");
        made.credentials_source = [] { return redis_config::credentials{}; };
        made.sentinel_credentials_source = made.credentials_source;
        change(made);
        return made;
    };
    with_source([](redis_config&) {}).validate();
    using change_type = void (*)(redis_config&);
    const std::pair<change_type, std::string_view> rows[] = {
        {[](redis_config& of) { of.user = "secret"; }, "empty with credentials_source"},
        {[](redis_config& of) { of.password = "secret"; }, "empty with credentials_source"},
        {[](redis_config& of) { of.password_file = "f"; }, "empty with credentials_source"},
        {[](redis_config& of) { of.sentinel_user = "secret"; },
         "empty with sentinel_credentials_source"},
        {[](redis_config& of) { of.sentinel_password = "secret"; },
         "empty with sentinel_credentials_source"},
        {[](redis_config& of) { of.sentinel_password_file = "f"; },
         "empty with sentinel_credentials_source"}};
    for (const auto& [change, says] : rows) {
        const redis_config given = with_source(change);
        const auto error = failure_of([&] { given.validate(); });
        const std::string text = error.what();
        BOOST_TEST((error.code() == errc::invalid_option));
        BOOST_TEST(text.find(says) != std::string::npos, text);
        BOOST_TEST(text.find("secret") == std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(cluster_url_sets_the_nodes)
{
    const redis_config c("redis+cluster://u:p@h1,h2:7000,[::1]:7001/0?timeout=100");
    BOOST_TEST((c.kind == redis_config::deployment::cluster));
    BOOST_TEST((c.addresses ==
                std::vector<redis_config::address>{{"h1", 6379}, {"h2", 7000}, {"::1", 7001}}));
    BOOST_TEST((c.user == "u" && c.password == "p"));
    BOOST_TEST((!c.tls && c.timeout == 100ms));
    c.validate();
    BOOST_TEST((redis_config("redis+cluster://h1").addresses.size() == 1));

    const redis_config over_tls("rediss+cluster://h1,h2?verify=none&ca=%2Fca.pem");
    BOOST_TEST((over_tls.kind == redis_config::deployment::cluster));
    BOOST_TEST((over_tls.tls && !over_tls.tls_verify && over_tls.tls_ca_file == "/ca.pem"));
    over_tls.validate();

    refused("redis+cluster://h1/1", errc::invalid_url, {"database", "1", "0 in a cluster"});
    refused("redis+cluster://h1?ca=a", errc::invalid_url, {"parameter", "ca"});
    refused("redis+cluster://", errc::invalid_url, {"host"});
}

BOOST_AUTO_TEST_CASE(redlock_url_sets_masters_and_quorum)
{
    const redis_config c(
        "redlock://u:p@h1,h2:7000,[::1]:7001,h4,h1:1/2?quorum=4&fence_retention=forever");
    BOOST_TEST((c.kind == redis_config::deployment::quorum));
    BOOST_TEST(
        (c.addresses == std::vector<redis_config::address>{
                            {"h1", 6379}, {"h2", 7000}, {"::1", 7001}, {"h4", 6379}, {"h1", 1}}));
    BOOST_TEST(c.quorum == 4u);
    BOOST_TEST(c.database == 2u);
    BOOST_TEST((c.fence_retention == redis_config::forever));
    BOOST_TEST(redis_config("redlock://h1,h2,h3").quorum == 0u); // a majority
    c.validate();
}

BOOST_AUTO_TEST_CASE(impossible_quorum_is_refused_with_the_reason)
{
    refused("redlock://h1", errc::invalid_url, {"addresses", "1 hosts", "3, 5, 7 or 9"});
    refused("redlock://h1,h2", errc::invalid_url, {"2 hosts", "3, 5, 7 or 9"});
    refused("redlock://h1,h2,h3,h4", errc::invalid_url, {"4 hosts", "odd"});
    refused("redlock://h,h:1,h:2,h:3,h:4,h:5,h:6,h:7,h:8,h:9,h:10", errc::invalid_url,
            {"11 hosts", "3, 5, 7 or 9"});
    refused("redlock://h1,h2,h1", errc::invalid_url, {"h1:6379", "named once"});
    refused("redlock://h1,h2:7,h3,h4,h2:7", errc::invalid_url, {"h2:7", "named once"});
    refused("redlock://h1,h2,h3?quorum=1", errc::invalid_url, {"quorum", "1", "2 to 3"});
    refused("redlock://h1,h2,h3?quorum=4", errc::invalid_url, {"quorum", "4", "2 to 3"});
    refused("redlock://h1,h2,h3?quorum=0", errc::invalid_url, {"quorum", "0"});
    refused("redlock://h1,h2,h3?quorum=most", errc::invalid_url, {"quorum", "most"});
    refused("redlock://h1,h2,h3?layout=native", errc::invalid_url, {"layout", "quorum"});
    refused("redis://h1?quorum=2", errc::invalid_url, {"quorum"});
    redis_config without;
    without.quorum = 2;
    BOOST_CHECK_THROW(without.validate(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(memory_url_names_a_space_of_the_process)
{
    for (const char* url : {"memory:", "memory:a", "memory:a?fence_retention=60",
                            "memory:?fence_retention=forever", "memory:a%2Fb", "memory:a+b"})
        BOOST_TEST(make_store(url)->traits().queues);
}

BOOST_AUTO_TEST_CASE(error_names_the_part_its_value_and_what_is_allowed)
{
    refused("", errc::invalid_url, {"scheme"});
    refused("host", errc::invalid_url, {"scheme"});
    refused("http://host", errc::invalid_url, {"scheme", "'http'", "rediss"});
    refused("redis:host", errc::invalid_url, {"redis://"});
    refused("redis://", errc::invalid_url, {"host"});
    refused("redis://h1,h2:x", errc::invalid_url, {"port", "'x'", "65535"});
    refused("redis://host:0", errc::invalid_url, {"port", "'0'"});
    refused("redis://host:65536", errc::invalid_url, {"port", "65536"});
    refused("redis://host:", errc::invalid_url, {"port"});
    refused("redis://[::1", errc::invalid_url, {"host", "[::1"});
    refused("redis://[::1]x", errc::invalid_url, {"host", "[::1]x", "brackets"});
    refused("redis://[::1]7000", errc::invalid_url, {"host", "brackets"});
    refused("redis://[nonsense]", errc::invalid_url, {"host", "nonsense"});
    refused("redis://host/x", errc::invalid_url, {"database", "'x'"});
    refused("redis://host/-1", errc::invalid_url, {"database", "'-1'"});
    refused("redis://host/4294967295", errc::invalid_url, {"database", "4294967295", "2147483647"});
    refused("redis://host?nonsense=1", errc::invalid_url, {"nonsense", "reconnect"});
    refused("redis://host?verify=none", errc::invalid_url, {"verify"});
    refused("rediss://host?verify=maybe", errc::invalid_url, {"verify", "maybe", "full"});
    refused("redis://host?timeout=5s", errc::invalid_url, {"timeout", "5s", "milliseconds"});
    refused("redis://host?timeout=1", errc::invalid_url, {"timeout", "1 ms", "10 to 600000"});
    refused("redis://host?timeout=100&timeout=100", errc::invalid_url, {"timeout", "once"});
    refused("redis://host?layout=redisson&fence_retention=0", errc::invalid_url,
            {"fence_retention", "forever"});
    BOOST_TEST(redis_config("unix:///s?prefix=app:").prefix == "app:");
    refused("redis://host?prefix=a%20b", errc::invalid_url, {"prefix", "'a b'", "spaces"});
    refused("redis://host?prefix=app:&layout=redisson", errc::invalid_url,
            {"prefix", "'app:'", "layout=redisson"});
    refused("memory:?prefix=app:", errc::invalid_url, {"'prefix'", "fence_retention"});
    refused("redis://host#part", errc::invalid_url, {"fragment"});
    refused("redis://host%2", errc::invalid_url, {"host", "%25"});
    refused("redis://ho st", errc::invalid_url, {"host", "%20"});
    refused("unix://host/path", errc::invalid_url, {"host"});
    refused("unix://", errc::invalid_url, {"path"});
    refused("redis+sentinel://h1", errc::invalid_url, {"master"});
    refused("redis+sentinel://h1,/master", errc::invalid_url, {"host"});
    refused("redis+sentinel://h1/master/x", errc::invalid_url, {"database", "'x'"});
    refused("memory://name", errc::invalid_url, {"memory:"});
    refused("memory:name?timeout=100", errc::invalid_url, {"timeout", "fence_retention"});
    refused("memory:?fence_retention=0", errc::invalid_url, {"fence_retention", "forever"});
    refused("memory:?fence_retention=400000000", errc::invalid_url, {"fence_retention", "forever"});
}

BOOST_AUTO_TEST_CASE(error_shows_no_password)
{
    refused("redis://u:secret@host:x", errc::invalid_url, {"port"});
    refused("redis://u:1/secret@host", errc::invalid_url, {"%2F"});
    refused("redis://u:1?secret@host", errc::invalid_url, {"%3F"});
    refused("redis://u:1#secret@host", errc::invalid_url, {"%23"});
    refused("redis://u:secret%@host", errc::invalid_url, {"password", "%25"});
    // If the user were cut at the first '@', the rest of the password would be taken for a host and
    // shown.
    refused("redis://u:p@secret@host:x", errc::invalid_url, {"port is 'x'"});
    refused("redis://u:p@secret@", errc::invalid_url, {"host is ''"});
    refused("redis://u:secret@", errc::invalid_url, {"host"});
    refused("redis+sentinel://h/m?sentinel_password=secret&sentinel_password=secret",
            errc::invalid_url, {"once"});
    refused("redis+sentinel://h/m?sentinel_password=secret%", errc::invalid_url,
            {"sentinel_password"});
    refused("rediss:u:secret@host", errc::invalid_url, {"rediss://"});
}

// Found by fuzzing: a NUL cut the text off before the list of what is allowed.
BOOST_AUTO_TEST_CASE(control_characters_in_an_error_are_escaped)
{
    refused(std::string("re\0dis://host", 13), errc::invalid_url,
            {"scheme", "re\\x00dis", "rediss"});
    refused("redis://host:1\n2", errc::invalid_url, {"port", "1\\x0a2", "65535"});
    refused("redis://host?%00=1", errc::invalid_url, {"parameter", "\\x00", "timeout"});
    redis_config c;
    c.kind = redis_config::deployment::sentinel;
    c.unix_socket = std::string("a\0b", 3);
    invalid(c, {"unix_socket", "a\\x00b", "empty"});
}

// The text may be an owner apart from a blank, and errors are written to logs.
BOOST_AUTO_TEST_CASE(text_that_is_no_owner_is_not_shown_in_the_error)
{
    const auto error = failure_of([] {
        static_cast<void>(owner::from_string("5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17#42 "));
    });
    BOOST_TEST((error.code() == errc::invalid_option));
    const std::string text = error.what();
    BOOST_TEST(text.find("a text of 43 bytes; allowed: a result of owner::to_string") !=
               std::string::npos);
    BOOST_TEST(text.find("5e0f8c21") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_field_is_refused_with_the_reason)
{
    redis_config c;
    c.addresses.clear();
    invalid(c, {"addresses", "empty"});
    c.addresses = {{"a", 1}, {"b", 2}};
    invalid(c, {"addresses", "2 hosts"});
    c.addresses = {{"", 1}};
    invalid(c, {"host"});
    c.addresses = {{"a", 0}};
    invalid(c, {"port", "0"});

    for (const char* const wrong : {"a b", "a*", "a?", "a[", "a]", "a{", "a}", "a\\", "a\n", "ä",
                                    "leasehold:", "leasehold:a", "lease", "l"}) {
        c = redis_config();
        c.prefix = wrong;
        invalid(c, {"prefix is '"});
    }
    c.prefix = std::string(65, 'a');
    invalid(c, {"prefix", "65 bytes", "64 bytes"});
    c.prefix = "app:";
    c.layout = redis_config::key_layout::redisson;
    invalid(c, {"prefix", "'app:'", "layout=redisson", "names"});
    c.kind = redis_config::deployment::quorum; // it has a layout of its own
    c.addresses = {{"a", 1}, {"b", 1}, {"c", 1}};
    c.validate();
    for (const std::string& right :
         {std::string("app:"), std::string(64, '~'), std::string("!^-")}) {
        c = redis_config("redis://host");
        c.prefix = right;
        c.validate();
    }

    c = redis_config();
    c.timeout = 9ms;
    invalid(c, {"timeout", "9 ms", "10 to 600000 ms"});
    c = redis_config();
    c.health_check = 10min + 1ms;
    invalid(c, {"health_check", "600001 ms"});
    c = redis_config();
    c.reconnect = 0ms;
    invalid(c, {"reconnect", "0 ms"});
    c = redis_config();
    c.fence_retention = 999ms;
    invalid(c, {"fence_retention", "999 ms", "forever"});
    c.fence_retention = -1s;
    invalid(c, {"fence_retention"});
    c.layout = redis_config::key_layout::redisson;
    c.fence_retention = redis_config::forever;
    c.validate();
    c.layout = redis_config::key_layout::native;
    invalid(c, {"fence_retention", "layout=redisson"});
    refused("redis://host?layout=native&fence_retention=60", errc::invalid_url,
            {"fence_retention", "layout=redisson"});
    BOOST_TEST(
        (redis_config("redis://host?layout=redisson&fence_retention=60").fence_retention == 60s));
    BOOST_TEST(
        (redis_config("redis://host?layout=native").layout == redis_config::key_layout::native));
    refused("redis://host?layout=hash", errc::invalid_url,
            {"layout", "hash", "redisson or native"});

    c = redis_config();
    c.unix_socket = "/s";
    c.tls = true;
    invalid(c, {"tls"});
    c.tls = false;
    c.unix_socket = std::string(200, 's');
    invalid(c, {"unix_socket", "103"});
    c = redis_config();
    c.kind = redis_config::deployment::sentinel;
    invalid(c, {"master"});
    c.master = "m";
    c.validate();
    c.tls = true;
    c.validate();
    c.tls_cert_file = "/cert.pem";
    invalid(c, {"tls_key_file", "the file of the key"});
    c.tls_key_file = "/key.pem";
    c.validate();
    c.tls = false;
    invalid(c, {"tls_cert_file", "empty without TLS"});
    c.tls_cert_file.clear();
    invalid(c, {"tls_key_file", "empty without tls_cert_file"});

    c = redis_config();
    c.address_map = {{{"10.0.0.1", 0}, {"example.com", 0}}};
    invalid(c, {"address_map", "without Sentinel or a cluster"});
    c.kind = redis_config::deployment::sentinel;
    c.master = "m";
    c.validate();
    c.kind = redis_config::deployment::cluster;
    c.validate();
    c.address_map.front().reached.host.clear();
    invalid(c, {"host in address_map"});
    c.address_map.clear();
    c.unix_socket = "/s";
    invalid(c, {"unix_socket", "empty with a cluster"});
    c.unix_socket.clear();
    c.database = 1;
    invalid(c, {"database", "0 in a cluster"});
}

// The text after the NUL would be cut off where the name is used.
BOOST_AUTO_TEST_CASE(nul_in_a_host_or_socket_is_refused)
{
    const std::string nul("a\0b", 3);
    redis_config c;
    c.addresses = {{nul, 1}};
    invalid(c, {"host is '(with a NUL)'", "a name or an address"});
    c = redis_config();
    c.unix_socket = nul;
    invalid(c, {"unix_socket contains a NUL"});
    for (const auto& [announced, reached] :
         {std::pair(nul, std::string("b")), std::pair(std::string("a"), nul)}) {
        c = redis_config();
        c.kind = redis_config::deployment::cluster;
        c.address_map = {{{announced, 1}, {reached, 1}}};
        invalid(c, {"host in address_map is '(with a NUL)'"});
    }
}

BOOST_AUTO_TEST_CASE(each_field_is_accepted_within_its_limits_only)
{
    const redis_config c;
    within("timeout", c, &redis_config::timeout, 10ms, 10min);
    within("health_check", c, &redis_config::health_check, 10ms, 10min);
    within("reconnect", c, &redis_config::reconnect, 1ms, 10min);
    redis_config of_redisson;
    of_redisson.layout = redis_config::key_layout::redisson;
    within("fence_retention", of_redisson, &redis_config::fence_retention, 1s,
           std::chrono::days(3653));
    within("database", c, &redis_config::database, 0u, 0x7fffffffu);
    BOOST_TEST(redis_config("redis://host/2147483647").database == 0x7fffffffu);
    refused("redis://host/2147483648", errc::invalid_url, {"database", "2147483647"});

    redis_config of_quorum("redlock://a,b,c");
    within("fence_retention", of_quorum, &redis_config::fence_retention, 1s,
           std::chrono::days(3653));

    redis_config local;
    local.unix_socket = std::string(103, 's');
    BOOST_CHECK_NO_THROW(local.validate());
    local.unix_socket += 's';
    invalid(local, {"unix_socket", "103"});

    redis_config host;
    for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{65535}}) {
        host.addresses = {{"a", port}};
        BOOST_CHECK_NO_THROW(host.validate());
    }
}

BOOST_AUTO_TEST_CASE(each_lock_option_is_accepted_within_its_limits_only)
{
    using options = lock_options;
    const options o;
    within("lease_time", o, &options::lease_time, 10ms, 30 * 24h);
    within("wait_limit", o, &options::wait_limit, 0ms, no_limit);
    within("longest_hold", o, &options::longest_hold, 10ms, no_limit);
    within("handoff_time", o, &options::handoff_time, 0ms, 60s);
    within("handoff_count", o, &options::handoff_count, 0u, 1'000'000u);
    within("claim_time", o, &options::claim_time, 10ms, 60s);
    within("external_share", o, &options::external_share, 0u, 100u);

    const options renewed{.lease_time = 1001ms};
    within("renew_interval", renewed, &options::renew_interval, 0ms, 500ms);
    // There is no renewal: the value only has to be valid.
    const options fixed{.lease_time = 1s, .renew = false};
    within("renew_interval", fixed, &options::renew_interval, 0ms, no_limit);

    // Neither of the two exceeds the other.
    const options pauses{.backoff_floor = 50ms, .backoff_ceiling = 70ms};
    within("backoff_ceiling", pauses, &options::backoff_ceiling, 50ms, 60s);
    const options longest{.backoff_ceiling = 60s};
    within("backoff_floor", longest, &options::backoff_floor, 1ms, 60s);
    options crossed = pauses;
    crossed.backoff_floor = crossed.backoff_ceiling;
    BOOST_CHECK_NO_THROW(crossed.validate());
    crossed.backoff_floor += 1ms;
    invalid(crossed, {"backoff_ceiling", "70 ms"});

    options acknowledged;
    acknowledged.replica_acks = 1'000;
    BOOST_CHECK_NO_THROW(acknowledged.validate());
    ++acknowledged.replica_acks;
    invalid(acknowledged, {"replica_acks", "1001", "1000"});
    const options confirmed{.lease_time = 1s, .replica_acks = 1};
    within("replica_timeout", confirmed, &options::replica_timeout, 0ms, 250ms);
    const options slowly{.replica_acks = 1};
    within("replica_timeout", slowly, &options::replica_timeout, 0ms, 4s);
    // There is no confirmation: the value only has to be valid.
    const options unconfirmed{};
    within("replica_timeout", unconfirmed, &options::replica_timeout, 0ms, no_limit);

    options promised{.lease_time = 10s, .dead_holder_grace = 100ms};
    BOOST_CHECK_NO_THROW(promised.validate());
    promised.dead_holder_grace = 9'999ms;
    BOOST_CHECK_NO_THROW(promised.validate());
    promised.dead_holder_grace = 10s;
    invalid(promised, {"dead_holder_grace", "10000 ms", "less than the lease time"});
    promised.dead_holder_grace = 99ms;
    invalid(promised, {"dead_holder_grace", "99 ms", "100 ms to 60000 ms"});
    promised = {.lease_time = 5min, .dead_holder_grace = 60'001ms};
    invalid(promised, {"dead_holder_grace", "60001 ms", "100 ms to 60000 ms"});
    promised = {.replica_acks = 1, .dead_holder_grace = 1s};
    invalid(promised, {"dead_holder_grace", "1000 ms", "0 ms with replica_acks"});
}

BOOST_AUTO_TEST_CASE(name_is_accepted_within_its_limits_only)
{
    boost::asio::io_context context;
    const client locks(context, "memory:");
    for (const std::size_t size : {1u, 4095u, 4096u}) {
        const std::string name(size, 'n');
        BOOST_TEST(mutex(locks, name).name() == name);
    }
    for (const std::size_t size : {0u, 4097u})
        BOOST_TEST((failure_of([&] { mutex m(locks, std::string(size, 'n')); }).code() ==
                    errc::invalid_name));
}

BOOST_AUTO_TEST_CASE(with_owner_rejects_a_too_long_identity)
{
    boost::asio::io_context context;
    const client locks(context, "memory:");
    const mutex m(locks, "a");
    BOOST_TEST(m.with_owner(owner(std::string(57, '1'), 1)).name() == "a");
    const auto error = failure_of(
        [&] { static_cast<void>(m.with_owner(owner(std::string(58, '1'), 1))); });
    BOOST_TEST((error.code() == errc::invalid_option));
    const std::string said(error.what());
    BOOST_TEST(said.starts_with("owner: an identity of 58 bytes; allowed: the owner of a lease, "
                                "whose identity has 1 to 57 bytes"),
               said);
    // The error does not show the identity: with it, a reader of the log could acquire the lock.
    BOOST_TEST(said.find("111") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(with_owner_rejects_an_empty_owner)
{
    boost::asio::io_context context;
    const client locks(context, "memory:");
    const mutex m(locks, "a");
    const mutex reentrant = m.with_owner(owner("1", 1));
    for (const mutex* each : {&m, &reentrant}) {
        const auto error = failure_of([&] { static_cast<void>(each->with_owner(owner())); });
        BOOST_TEST((error.code() == errc::invalid_option));
        const std::string said(error.what());
        BOOST_TEST(said.starts_with("owner: it is empty; allowed: the owner of a lease"), said);
    }
}

// Another text with the same meaning could be compared with this one, and would differ.
BOOST_AUTO_TEST_CASE(owner_is_read_from_one_text_only)
{
    const std::string id = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10";
    for (const std::string& each : {id + ":0#0", id + ":7#1", id + ":10#18446744073709551615"})
        BOOST_TEST(owner::from_string(each).to_string() == each);
    for (const std::string& each :
         {id + ":07#1", id + ":7#01", id + ":00#1", id + ":7#00", id + ":+7#1", id + ":7#+1",
          id + ":7#-1", id + ":#1", id + ":7#", id + ":7", id + "#1", id + ":7#1#1",
          id + ":7#18446744073709551616", "5E0F8C21" + id.substr(8) + ":7#1", '{' + id + "}:7#1"})
        BOOST_TEST_CONTEXT(each)
        {
            const auto error = failure_of([&] { static_cast<void>(owner::from_string(each)); });
            BOOST_TEST((error.code() == errc::invalid_option));
        }
}

// Each character of a UUID has a fixed place.
BOOST_AUTO_TEST_CASE(owner_text_with_one_wrong_character_is_refused)
{
    const std::string one = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17#42";
    constexpr std::string_view hex = "0123456789abcdef";
    for (std::size_t at = 0; at < one.size(); ++at)
        for (int byte = 0; byte < 256; ++byte) {
            std::string other = one;
            other[at] = static_cast<char>(byte);
            const bool digits = at > 36 && one[at] != '#';
            const bool first = at == 37 || at == 40;
            const bool known = one[at] == '-' || one[at] == ':' || one[at] == '#' ? other == one
                               : digits ? byte >= (first ? '1' : '0') && byte <= '9'
                                        : hex.find(other[at]) != std::string_view::npos;
            BOOST_TEST_CONTEXT(at << ", " << byte)
            {
                bool accepted = true;
                try {
                    accepted = owner::from_string(other).to_string() == other;
                }
                catch (const boost::system::system_error&) {
                    accepted = false;
                }
                BOOST_TEST(accepted == known);
            }
        }
    for (const char* text : {"", "x", "#", ":#", "x:1#1", ":1#1", "-:1#1"})
        BOOST_TEST((failure_of([&] { static_cast<void>(owner::from_string(text)); }).code() ==
                    errc::invalid_option));
}

// In a form, as browsers send it, a plus means a blank. In a URL it does not.
BOOST_AUTO_TEST_CASE(plus_in_a_url_stays_a_plus)
{
    const redis_config c(
        "redis+sentinel://a+b:c+d@e+f/g+h?sentinel_user=i+j&sentinel_password=k+l");
    BOOST_TEST(c.user == "a+b");
    BOOST_TEST(c.password == "c+d");
    BOOST_TEST(c.addresses.front().host == "e+f");
    BOOST_TEST(c.master == "g+h");
    BOOST_TEST(c.sentinel_user == "i+j");
    BOOST_TEST(c.sentinel_password == "k+l");
    BOOST_TEST(redis_config("unix:///run/a+b").unix_socket == "/run/a+b");
}
