#include <leasehold/zookeeper.hpp>

#include "base/tls.hpp"
#include "session_store/locks_of.hpp"
#include "zookeeper/store/store_state.hpp"

#include <memory>
#include <string_view>

namespace leasehold {
namespace {

std::shared_ptr<store> make_store_of(std::string_view url)
{
    return make_zookeeper_store(zookeeper_config(url));
}

} // namespace

std::shared_ptr<store> make_zookeeper_store(const zookeeper_config& settings)
{
    settings.validate();
    if (settings.tls) // files that cannot be read are reported now
        static_cast<void>(detail::make_tls_context({.ca_file = settings.tls_ca_file,
                                                    .cert_file = settings.tls_cert_file,
                                                    .key_file = settings.tls_key_file,
                                                    .verify = settings.tls_verify}));
    return std::make_shared<session_store::locks_of<zookeeper_store::store_state>>(settings);
}

namespace detail {

bool register_zookeeper()
{
    return register_scheme("zookeeper", &make_store_of);
}

} // namespace detail
} // namespace leasehold
