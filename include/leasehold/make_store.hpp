#ifndef LEASEHOLD_MAKE_STORE_HPP
#define LEASEHOLD_MAKE_STORE_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <string_view>

namespace leasehold {

/// Makes the store that the URL names. Its scheme chooses the kind:
///  - `memory:[name]`: the locks are in this process. Clients with the same name share them.
///    Parameter `fence_retention`: the seconds for which a fence counter is kept, or `forever`.
///  - `redis:` and the other schemes of `redis_config`: include `<leasehold/redis.hpp>`.
///  - `postgres:` and `postgresql:`, see `postgres_config`: include `<leasehold/postgres.hpp>` and
///    link `leasehold::postgres`.
///  - `mysql:` and `mariadb:`, see `mysql_config`: include `<leasehold/mysql.hpp>` and link
///    `leasehold::mysql`.
///  - `zookeeper:`, see `zookeeper_config`: include `<leasehold/zookeeper.hpp>` and link
///    `leasehold::zookeeper`.
///  - `etcd:`, see `etcd_config`: include `<leasehold/etcd.hpp>` and link `leasehold::etcd`.
///  - a scheme that the program has registered.
/// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
///     value and the allowed values. It never contains a password. `errc::not_supported` if the
///     program includes the header of that store nowhere.
[[nodiscard]] LEASEHOLD_EXPORT std::shared_ptr<store> make_store(std::string_view url);

/// Makes a store from a URL of its scheme.
using store_factory = std::shared_ptr<store> (*)(std::string_view url);

/// Adds a scheme to those that `make_store` knows. The header of a store calls it for its own
/// schemes. Callable from any thread, also before `main`.
/// @param scheme Lower case, without the colon.
/// @return False if the scheme is already registered: then nothing is changed.
LEASEHOLD_EXPORT bool register_scheme(std::string_view scheme, store_factory factory);

} // namespace leasehold

#endif
