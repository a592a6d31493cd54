#include <leasehold/postgres.hpp>

#include "postgres/driver.hpp"
#include "postgres/protocol/identifier.hpp"
#include "sql/store/sql_store.hpp"

#include <leasehold_postgres_schema.hpp>

#include <string>
#include <string_view>

namespace leasehold {
namespace {

std::shared_ptr<store> make_store_of(std::string_view url)
{
    return make_postgres_store(postgres_config(url));
}

} // namespace

std::shared_ptr<store> make_postgres_store(const postgres_config& settings)
{
    settings.validate();
    return sql_store::make_store(postgres_store::make_driver(settings));
}

std::string postgres_schema(std::string_view schema)
{
    return postgres_store::with_schema(postgres_store::schema_text, schema);
}

namespace detail {

bool register_postgres()
{
    const bool first = register_scheme("postgres", &make_store_of);
    return register_scheme("postgresql", &make_store_of) && first;
}

} // namespace detail
} // namespace leasehold
