#include "ensemble.hpp"

namespace leasehold::tool::doctor {

std::string advice_on_connection(std::string_view why, const char* on_missing_tls)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("certificate for another host", "certificate is for another host"))
        return "Use a host in the URL that the certificate names, or issue a certificate for this "
               "host.";
    if (says("certificate is not trusted"))
        return "Pass the file of the authority that issued it: ca=FILE in the URL.";
    if (says("rejects the client's certificate"))
        return "Pass a certificate that the server trusts: cert=FILE and key=FILE in the URL.";
    if (says("does not answer in TLS"))
        return on_missing_tls;
    if (says("password_file"))
        return "Make the file readable, and write the password into it.";
    if (says("host not found"))
        return "Correct the host in the URL, or the name service.";
    return "Check if the server runs and has a leader, and if the network lets connections pass.";
}

void try_lock_in(std::shared_ptr<store> where, const std::string& key, std::string_view no_right,
                 std::string (*advice)(std::string_view), findings& to)
{
    const std::size_t before = to.size();
    try_lock(std::move(where), key, to);
    if (to.size() > before && to.back().what.find(no_right) != std::string::npos)
        to.back().remedy = advice(no_right);
}

} // namespace leasehold::tool::doctor
