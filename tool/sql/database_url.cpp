#include "database_url.hpp"

#ifdef LEASEHOLD_HAS_MYSQL
#include "mysql/driver.hpp"
#endif
#ifdef LEASEHOLD_HAS_POSTGRES
#include "postgres/driver.hpp"
#endif

namespace leasehold::tool {

bool is_postgres(std::string_view url)
{
    return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

bool is_mysql(std::string_view url)
{
    return url.starts_with("mysql://") || url.starts_with("mariadb://");
}

std::optional<database_place> database_of(const std::string& url)
{
#ifdef LEASEHOLD_HAS_POSTGRES
    if (is_postgres(url))
        return database_place{lock_kind::postgres,
                              postgres_store::make_driver(postgres_config(url))};
#endif
#ifdef LEASEHOLD_HAS_MYSQL
    if (is_mysql(url))
        return database_place{lock_kind::mysql, mysql_store::make_driver(mysql_config(url))};
#endif
    static_cast<void>(url);
    return std::nullopt;
}

} // namespace leasehold::tool
