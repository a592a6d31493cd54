#include "schema_command.hpp"

#include "exit_code.hpp"
#include "message.hpp"
#include "sql/database.hpp"
#include "sql/database_url.hpp"
#include "terminal.hpp"
#include "url_option.hpp"

#ifdef LEASEHOLD_HAS_MYSQL
#include <leasehold/mysql.hpp>
#endif
#ifdef LEASEHOLD_HAS_POSTGRES
#include <leasehold/postgres.hpp>
#endif

#include <boost/asio/io_context.hpp>

#include <string>

namespace leasehold::tool {
namespace {

constexpr char about[] =
    R"(Prints the SQL text that creates the tables and functions of the locks in a
database. It may be executed again, also over an earlier version:

  leasehold schema         | psql -v ON_ERROR_STOP=1 DATABASE
  leasehold schema --mysql | mysql DATABASE

The user that executes it owns the tables. The user of an application needs
only one right: in PostgreSQL, grant usage on schema leasehold to APPLICATION;
in MySQL and MariaDB, grant execute on DATABASE.* to APPLICATION.
)";

constexpr char notes[] = R"(Exit code: 0, or
  2    an argument is invalid
  70   the output cannot be written
  77   with --check: no server can be reached, or the schema is missing or has
       another version
)";

#ifdef LEASEHOLD_HAS_MYSQL
std::string text_for_mysql()
{
    return mysql_schema();
}
#else
std::string text_for_mysql()
{
    throw usage_error("this program was built without MySQL");
}
#endif

#ifdef LEASEHOLD_HAS_POSTGRES
std::string text_for_postgres(const std::string& url, const std::string& schema, bool unlogged)
{
    postgres_config where;
    if (is_postgres(url))
        where = postgres_config(url);
    if (!schema.empty())
        where.schema = schema;
    where.validate();
    return (unlogged ? "set leasehold.tables = 'unlogged';\n" : "") + postgres_schema(where.schema);
}
#else
std::string text_for_postgres(const std::string&, const std::string&, bool)
{
    throw usage_error("this program was built without PostgreSQL; --mysql is allowed");
}
#endif

class schema_command final : public command
{
public:
    schema_command() : command("schema [OPTION...]", about)
    {
        declare_url(options(), url_);
        options().flag("--mysql",
                       "The text for MySQL and MariaDB (default with a mysql: or\n"
                       "mariadb: URL).",
                       mysql_);
        options().value("--schema", "NAME",
                        "PostgreSQL: the name of the schema (default: that of a\n"
                        "postgres: URL, else leasehold).",
                        [this](std::string_view value) { schema_ = value; });
        options().flag("--unlogged",
                       "PostgreSQL: creates tables without a write-ahead log. They are\n"
                       "faster on a slow disk, but a crash of the server loses all locks.",
                       unlogged_);
        options().flag("--check", "Prints nothing, and checks the schema at the server of --url.",
                       check_);
        options().notes(notes);
    }

    int run(const command_line::words& given) override
    {
        if (!given.arguments.empty() || !given.command.empty())
            throw usage_error("no argument is allowed, only options");
        if (check_) {
            check();
        }
        else if (mysql_ || is_mysql(url_)) {
            if (!schema_.empty() || unlogged_)
                throw usage_error("--schema and --unlogged are for PostgreSQL only");
            print(text_for_mysql());
        }
        else {
            print(text_for_postgres(url_, schema_, unlogged_));
        }
        return success;
    }

private:
    void check() const
    {
        std::string url = url_;
        if (!schema_.empty() && is_postgres(url))
            url += (url.find('?') == url.npos ? "?schema=" : "&schema=") + schema_;
        const auto place = database_of(url);
        if (!place)
            throw usage_error("--check needs a --url that begins with postgres:// or mysql://");
        boost::asio::io_context context(1);
        database found(context, place->how);
        // A session begins with this check.
        found.query("select 1", [&](const auto&) {
            say("the schema at " + found.server() + " has the version of this program");
        });
    }

    std::string url_;
    std::string schema_;
    bool mysql_ = false;
    bool unlogged_ = false;
    bool check_ = false;
};

} // namespace

std::unique_ptr<command> make_schema_command()
{
    return std::make_unique<schema_command>();
}

} // namespace leasehold::tool
