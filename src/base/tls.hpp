#ifndef LEASEHOLD_SRC_BASE_TLS_HPP
#define LEASEHOLD_SRC_BASE_TLS_HPP

#include "base/url.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>

// TLS, for the stores whose connections are those of Asio. Only they need OpenSSL.
namespace leasehold::detail {

struct tls_files
{
    const std::string& ca_file; ///< Empty: the certificates of the system.
    const std::string& cert_file;
    const std::string& key_file;
    bool verify;
};

[[noreturn]] inline void refuse_tls_file(const char* field, const std::string& file,
                                         const std::string& contents)
{
    throw boost::system::system_error(errc::invalid_option,
                                      wrong_value(field, file, "a readable file of " + contents));
}

/// @throws boost::system::system_error `errc::invalid_option` if a file cannot be read.
[[nodiscard]] inline boost::asio::ssl::context make_tls_context(const tls_files& files)
{
    namespace ssl = boost::asio::ssl;
    ssl::context result(ssl::context::tls_client);
    result.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                       ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    error_code error;
    if (files.ca_file.empty())
        result.set_default_verify_paths(error);
    else
        result.load_verify_file(files.ca_file, error);
    if (error && files.verify)
        refuse_tls_file("tls_ca_file", files.ca_file, "PEM certificates");
    if (!files.cert_file.empty()) {
        if (result.use_certificate_chain_file(files.cert_file, error))
            refuse_tls_file("tls_cert_file", files.cert_file, "a PEM certificate chain");
        // Without it, OpenSSL asks on the terminal for the password of an encrypted key.
        result.set_password_callback([](std::size_t, auto) { return std::string(); });
        if (result.use_private_key_file(files.key_file, ssl::context::pem, error))
            refuse_tls_file("tls_key_file", files.key_file,
                            "the PEM key of tls_cert_file, without a password");
    }
    result.set_verify_mode(files.verify ? ssl::verify_peer : ssl::verify_none);
    return result;
}

/// Sends the name of the host with the TLS handshake, for servers that share one address. An
/// address is no name.
inline void ask_for_name(SSL* stream, const std::string& host)
{
    error_code is_name;
    boost::asio::ip::make_address(host, is_name);
    if (is_name)
        ::SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(host.c_str()));
}

/// Whether the other side has rejected the certificate of this one, or has missed it.
[[nodiscard]] inline bool is_certificate_alert(error_code failed) noexcept
{
    if (failed.category() != boost::asio::error::get_ssl_category())
        return false;
    switch (ERR_GET_REASON(static_cast<unsigned long>(failed.value()))) {
    case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return true;
    default: return false;
    }
}

/// The reason why a TLS handshake failed, as text.
/// @param other_host The certificate is trusted, but for another host.
[[nodiscard]] inline std::string tls_failure(SSL* stream, error_code failed, bool other_host,
                                             bool verified)
{
    if (other_host)
        return "the server's certificate is for another host";
    const long verdict = ::SSL_get_verify_result(stream);
    if (verified && verdict != X509_V_OK)
        return std::string("the server's certificate is not trusted: ") +
               ::X509_verify_cert_error_string(verdict);
    if (is_certificate_alert(failed))
        return "the server rejects the client's certificate, or requires one: " + failed.message();
    const bool closed = failed == boost::asio::error::eof ||
                        failed == boost::asio::error::connection_reset ||
                        failed == boost::asio::ssl::error::stream_truncated;
    return "the server does not answer in TLS: " +
           (closed ? "it closed the connection" : failed.message());
}

} // namespace leasehold::detail

#endif
