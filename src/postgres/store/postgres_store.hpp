#ifndef LEASEHOLD_SRC_POSTGRES_STORE_POSTGRES_STORE_HPP
#define LEASEHOLD_SRC_POSTGRES_STORE_POSTGRES_STORE_HPP

#include <leasehold/postgres_config.hpp>
#include <leasehold/store.hpp>

#include <memory>

namespace leasehold::postgres_store {

/// @pre The settings are valid.
[[nodiscard]] std::shared_ptr<store> make_store(const postgres_config& settings);

} // namespace leasehold::postgres_store

#endif
