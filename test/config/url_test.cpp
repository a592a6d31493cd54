// The contents that a URL may have, and the whole text of each refusal.

#include <boost/test/unit_test.hpp>

#include <leasehold/error.hpp>
#include <leasehold/redis.hpp>

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using leasehold::errc;
using leasehold::redis_config;
using namespace std::string_literals;

/// The text that `read` throws. Empty: it throws nothing.
template <class F>
std::string text_of(F read)
{
    try {
        read();
        return {};
    }
    catch (const boost::system::system_error& refused) {
        BOOST_TEST((refused.code() == errc::invalid_url));
        const std::string text = refused.what();
        return text.substr(0, text.rfind(": invalid store URL"));
    }
}

bool is_memory(std::string_view url)
{
    return url.starts_with("memory:") || url.starts_with("MEMORY:");
}

/// Empty when the URL is accepted.
std::string refusal(const std::string& url)
{
    return text_of([&] {
        if (is_memory(url))
            static_cast<void>(leasehold::make_store(url));
        else
            static_cast<void>(redis_config(url));
    });
}

/// The byte, percent-encoded.
std::string encoded(unsigned char byte)
{
    constexpr char digits[] = "0123456789aBcDeF";
    return {'%', digits[byte >> 4], digits[byte & 15]};
}

struct scheme
{
    std::string begin;
    std::string_view parameters; ///< Its parameters, in the order of the text.
};

// Each kind of URL, up to its parameters.
const scheme schemes[] = {
    {"redis://h", "timeout, health_check, reconnect, fence_retention, layout, client_info, "
                  "password_file, prefix"},
    {"rediss://h", "timeout, health_check, reconnect, fence_retention, layout, client_info, "
                   "password_file, prefix, ca, "
                   "cert, key, verify"},
    {"unix:///s", "timeout, health_check, reconnect, fence_retention, layout, client_info, "
                  "password_file, prefix, db"},
    {"redis+sentinel://h/m", "timeout, health_check, reconnect, fence_retention, layout, "
                             "client_info, password_file, prefix, "
                             "sentinel_user, sentinel_password, sentinel_password_file"},
    {"valkeys+sentinel://h/m", "timeout, health_check, reconnect, fence_retention, layout, "
                               "client_info, password_file, prefix, ca, cert, key, "
                               "verify, sentinel_user, sentinel_password, sentinel_password_file"},
    {"redis+cluster://h", "timeout, health_check, reconnect, fence_retention, layout, client_info, "
                          "password_file, prefix"},
    {"rediss+cluster://h", "timeout, health_check, reconnect, fence_retention, layout, "
                           "client_info, password_file, prefix, ca, cert, key, verify"},
    {"redlock://a,b,c", "timeout, health_check, reconnect, fence_retention, quorum, client_info, "
                        "password_file, prefix"},
    {"memory:n", "fence_retention"},
};

struct parameter
{
    std::string name, value;
};

const parameter parameters[] = {{"timeout", "100"},      {"health_check", "100"},
                                {"reconnect", "100"},    {"layout", "redisson"},
                                {"client_info", "off"},  {"ca", "a"},
                                {"verify", "none"},      {"db", "1"},
                                {"quorum", "2"},         {"sentinel_user", "a"},
                                {"fence_retention", ""}, {"sentinel_password", "a"},
                                {"password_file", "a"},  {"sentinel_password_file", "a"},
                                {"prefix", "a"}};

} // namespace

BOOST_AUTO_TEST_CASE(each_refusal_names_the_part_its_value_and_what_is_allowed)
{
    struct row
    {
        const char* url;
        const char* text;
    };
    constexpr const char* no_scheme =
        "URL has no scheme, must begin with one and '://': redis, rediss, unix, redis+sentinel, "
        "rediss+sentinel, redis+cluster, rediss+cluster, redlock, rediss+redlock, valkey, valkeys, "
        "valkey+sentinel, valkeys+sentinel, valkey+cluster or valkeys+cluster";
    const row rows[] = {
        {"host", no_scheme},
        {"host:6379", no_scheme},
        {"http://host", "scheme is 'http', must be redis, rediss, unix, redis+sentinel, "
                        "rediss+sentinel, redis+cluster, rediss+cluster, redlock, "
                        "rediss+redlock, valkey, valkeys, valkey+sentinel, valkeys+sentinel, "
                        "valkey+cluster or valkeys+cluster"},
        {"redis:host", "URL has no '//' after its scheme, must begin with redis://"},
        {"rediss:host", "URL has no '//' after its scheme, must begin with rediss://"},
        {"redis://", "host is '', must be a name or an address"},
        {"redis://host#part", "URL has a fragment, must have none; write '#' as %23"},
        {"redis://u:1/secret@host",
         "URL has an '@' after its hosts; '/', '?', '#' and '@' in a user, password or "
         "parameter must be percent-encoded (%2F, %3F, %23, %40)"},
        {"redis://h1,h2", "addresses is '2 hosts', must be one host"},
        {"redis://host:x", "port is 'x', must be 1 to 65535"},
        {"redis://host:", "port is '', must be 1 to 65535"},
        {"redis://host:0", "port is '0', must be 1 to 65535"},
        {"redis://host:65536", "port is '65536', must be 1 to 65535"},
        {"redis://[::1",
         "host is '[::1', must be an IPv6 address in brackets and, after a colon, a port"},
        {"redis://[::1]x",
         "host is '[::1]x', must be an IPv6 address in brackets and, after a colon, a port"},
        {"redis://[::1]:", "port is '', must be 1 to 65535"},
        {"redis://[1.2.3.4]",
         "host is '[1.2.3.4]', must be an IPv6 address in brackets and, after a colon, a port"},
        {"redis://ho st",
         "host contains a space or control character, must percent-encode it (%20)"},
        {"redis://ho%2",
         "host contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"redis://ho%zz",
         "host contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"redis://u%:p@host",
         "user contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"redis://u:p%@host",
         "password contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"redis://:@", "host is '', must be a name or an address"},
        {"redis://host/x", "database is 'x', must be a number, 0 or larger"},
        {"redis://host/-1", "database is '-1', must be a number, 0 or larger"},
        {"redis://host/0x", "database is '0x', must be a number, 0 or larger"},
        {"redis://host/2147483648", "database is '2147483648', must be 0 to 2147483647"},
        {"redis://host?%=1",
         "parameter contains a '%' without two hexadecimal digits after it, must write it as "
         "%25"},
        {"redis://host?timeout=%",
         "parameter timeout contains a '%' without two hexadecimal digits after it, must write it "
         "as %25"},
        {"redis://host?timeout=1&timeout=2", "parameter is 'timeout', must be given once"},
        {"redis://host?timeout=100&health_check=100&timeout=100",
         "parameter is 'timeout', must be given once"},
        {"redis://host?timeout=5s", "timeout is '5s', must be a number of milliseconds"},
        {"redis://host?timeout=", "timeout is '', must be a number of milliseconds"},
        {"redis://host?health_check=-1", "health_check is '-1', must be a number of milliseconds"},
        {"redis://host?reconnect=4294967296",
         "reconnect is '4294967296', must be a number of milliseconds"},
        {"redis://host?timeout=9", "timeout is '9 ms', must be 10 to 600000 ms"},
        {"redis://host?timeout=600001", "timeout is '600001 ms', must be 10 to 600000 ms"},
        {"redis://host?health_check=9", "health_check is '9 ms', must be 10 to 600000 ms"},
        {"redis://host?reconnect=0", "reconnect is '0 ms', must be 1 to 600000 ms"},
        {"redis://host?fence_retention=0",
         "fence_retention is '0', must be forever, or a number of seconds, 1 or larger"},
        {"redis://host?fence_retention=ever",
         "fence_retention is 'ever', must be forever, or a number of seconds, 1 or larger"},
        {"redis://host?layout=redisson&fence_retention=400000000",
         "fence_retention is '400000000000 ms', must be forever, or 1000 to 315619200000 ms"},
        {"redis://host?layout=native&fence_retention=60",
         "fence_retention is '60000 ms', must be left out, or used with layout=redisson"},
        {"redis://host?layout=hash", "layout is 'hash', must be redisson or native"},
        {"redis://host?client_info=no", "client_info is 'no', must be on or off"},
        {"redlock://a,b,c?quorum=0",
         "quorum is '0', must be a number of hosts, at least a majority"},
        {"redlock://a,b,c?quorum=x",
         "quorum is 'x', must be a number of hosts, at least a majority"},
        {"redlock://a,b,c?quorum=1", "quorum is '1', must be 2 to 3"},
        {"redlock://a,b,c?quorum=4", "quorum is '4', must be 2 to 3"},
        {"redlock://a,b", "addresses is '2 hosts', must be 3, 5, 7 or 9 hosts with redlock"},
        {"redlock://a,b,c,d",
         "addresses is '4 hosts', must be an odd number of hosts with redlock"},
        {"redlock://a,b,a", "host is 'a:6379', must be named once: each member has one vote"},
        {"rediss://host?verify=maybe", "verify is 'maybe', must be full or none"},
        {"unix://host/path",
         "host is 'host', must be absent in a unix: URL, as in unix:///run/redis.sock"},
        {"unix://", "path is '', must be the path of the socket, as in unix:///run/redis.sock"},
        {"unix:///", "path is '/', must be the path of the socket, as in unix:///run/redis.sock"},
        {"unix:///s?db=x", "database is 'x', must be a number, 0 or larger"},
        {"unix:///s%00?db=1", "unix_socket contains a NUL, must be a path"},
        {"redis+sentinel://h",
         "master is '', must be the name of the master, as in redis+sentinel://host/master"},
        {"redis+sentinel://h/",
         "master is '/', must be the name of the master, as in redis+sentinel://host/master"},
        {"redis+sentinel://h//1",
         "master is '//1', must be the name of the master, as in redis+sentinel://host/master"},
        {"redis+sentinel://h/m/x", "database is 'x', must be a number, 0 or larger"},
        {"redis+sentinel://h,/m", "host is '', must be a name or an address"},
        {"redis+sentinel://h/%",
         "master contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"redis+cluster://h/1", "database is '1', must be 0 in a cluster"},
        {"memory://name", "URL with scheme memory: has a '//', must be memory: and a name"},
        {"memory:%",
         "name contains a '%' without two hexadecimal digits after it, must write it as %25"},
        {"memory:n?timeout=100", "parameter is 'timeout', must be fence_retention"},
        {"memory:?fence_retention=0",
         "fence_retention is '0', must be forever, or a number of seconds, 1 or larger"},
    };
    for (const row& each : rows)
        BOOST_TEST_CONTEXT(each.url)
        {
            BOOST_TEST(refusal(each.url) == each.text);
        }
}

BOOST_AUTO_TEST_CASE(refusal_of_a_parameter_names_the_allowed_ones)
{
    for (const scheme& of : schemes)
        for (const parameter& each : parameters) {
            const bool taken =
                (", " + std::string(of.parameters) + ",").find(' ' + each.name + ',') !=
                std::string::npos;
            const std::string value = each.name == "fence_retention" ? "forever&layout=redisson"s
                                                                     : each.value;
            std::string url = of.begin + '?' + each.name + '=' + value;
            if (of.parameters.find("layout") == std::string_view::npos)
                url = url.substr(0, url.find('&'));
            BOOST_TEST_CONTEXT(url)
            {
                const std::string one_of = of.parameters == "fence_retention" ? "" : "one of ";
                BOOST_TEST(refusal(url) == (taken ? ""
                                                  : "parameter is '" + each.name + "', must be " +
                                                        one_of + std::string(of.parameters)));
            }
        }
}

BOOST_AUTO_TEST_CASE(every_byte_can_be_written_in_hexadecimal_digits)
{
    for (int byte = 1; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const std::string text = encoded(static_cast<unsigned char>(byte));
        BOOST_TEST_CONTEXT(text)
        {
            const redis_config of("redis://u" + text + ":p" + text + "@h" + text);
            BOOST_TEST(of.user == "u"s + c);
            BOOST_TEST(of.password == "p"s + c);
            BOOST_TEST(of.addresses.front().host == "h"s + c);
        }
    }
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool is_digit = std::string_view("0123456789abcdefABCDEF").find(c) !=
                              std::string_view::npos;
        for (const std::string& text : {"4"s + c, c + "4"s})
            BOOST_TEST_CONTEXT(text)
            {
                BOOST_TEST(refusal("memory:%" + text).empty() == is_digit);
            }
    }
}

BOOST_AUTO_TEST_CASE(blanks_and_control_characters_must_be_encoded)
{
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (std::string_view("%#?").find(c) != std::string_view::npos)
            continue;
        BOOST_TEST_CONTEXT(byte)
        {
            const bool plain = byte > ' ' && byte != 0x7f;
            BOOST_TEST(refusal("memory:"s + c) ==
                       (plain ? ""
                              : "name contains a space or control character, must "
                                "percent-encode it (%20)"));
        }
    }
}

// Quoted text is written to logs.
BOOST_AUTO_TEST_CASE(only_control_characters_are_rewritten_in_quoted_text)
{
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (std::string_view("#,/?@").find(c) != std::string_view::npos)
            continue;
        constexpr char digits[] = "0123456789abcdef";
        const bool control = byte < ' ' || byte == 0x7f;
        const std::string shown = control
                                      ? std::string{'\\', 'x', digits[byte >> 4], digits[byte & 15]}
                                      : ""s + c;
        BOOST_TEST_CONTEXT(byte)
        {
            BOOST_TEST(refusal("redis://h:x"s + c) ==
                       "port is 'x" + shown + "', must be 1 to 65535");
        }
    }
}

BOOST_AUTO_TEST_CASE(scheme_may_be_in_capitals)
{
    for (const scheme& each : schemes) {
        std::string url = each.begin;
        for (std::size_t i = 0; url[i] != ':'; ++i)
            if (url[i] >= 'a' && url[i] <= 'z')
                url[i] = static_cast<char>(url[i] - 'a' + 'A');
        BOOST_TEST_CONTEXT(url)
        {
            BOOST_TEST(refusal(url) == "");
            if (!is_memory(url))
                BOOST_TEST((redis_config(url).kind == redis_config(each.begin).kind));
        }
    }
}

BOOST_AUTO_TEST_CASE(each_kind_of_url_has_its_store_port_and_security)
{
    using deployment = redis_config::deployment;
    struct row
    {
        std::string url;
        deployment kind;
        std::uint16_t port;
        bool tls;
    };
    for (const row& each : {row{"redis://h", deployment::server, 6379, false},
                            row{"rediss://h", deployment::server, 6379, true},
                            row{"redis+sentinel://h/m", deployment::sentinel, 26379, false},
                            row{"redis+cluster://h", deployment::cluster, 6379, false},
                            row{"rediss+cluster://h", deployment::cluster, 6379, true},
                            row{"redlock://h,b,c", deployment::quorum, 6379, false},
                            row{"rediss+redlock://h,b,c", deployment::quorum, 6379, true},
                            row{"rediss+sentinel://h/m", deployment::sentinel, 26379, true},
                            row{"valkey://h", deployment::server, 6379, false},
                            row{"valkeys://h", deployment::server, 6379, true},
                            row{"valkey+sentinel://h/m", deployment::sentinel, 26379, false},
                            row{"valkeys+sentinel://h/m", deployment::sentinel, 26379, true},
                            row{"valkey+cluster://h", deployment::cluster, 6379, false},
                            row{"valkeys+cluster://h", deployment::cluster, 6379, true}})
        BOOST_TEST_CONTEXT(each.url)
        {
            const redis_config of(each.url);
            BOOST_TEST((of.kind == each.kind));
            BOOST_TEST((of.addresses.front() == redis_config::address{"h", each.port}));
            BOOST_TEST(of.tls == each.tls);
            BOOST_TEST(of.tls_verify);
            BOOST_TEST(of.unix_socket.empty());
        }
    BOOST_TEST((redis_config("unix:///s").kind == deployment::server));
}
