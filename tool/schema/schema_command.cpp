#include "schema_command.hpp"

#include "exit_code.hpp"
#include "message.hpp"
#include "sql/database.hpp"
#include "terminal.hpp"
#include "url_option.hpp"

#include "postgres/driver.hpp"
#include "postgres/protocol/schema_version.hpp"

#include <leasehold/postgres.hpp>

#include <boost/asio/io_context.hpp>

#include <string>

namespace leasehold::tool {
namespace {

constexpr char about[] =
    R"(Prints the SQL text that creates the tables and functions of the locks in a
PostgreSQL database. It may be executed again, also over an earlier version:

  leasehold schema | psql -v ON_ERROR_STOP=1 DATABASE

The user that executes it owns the tables. The user of an application needs
only one right: grant usage on schema leasehold to APPLICATION.
)";

constexpr char notes[] = R"(Exit code: 0, or
  2    an argument is invalid
  70   the output cannot be written
  77   with --check: no server can be reached, or the schema is missing or has
       another version
)";

class schema_command final : public command
{
public:
    schema_command() : command("schema [OPTION...]", about)
    {
        declare_url(options(), url_);
        options().value("--schema", "NAME",
                        "The name of the schema (default: that of a postgres: URL,\n"
                        "else leasehold).",
                        [this](std::string_view value) { schema_ = value; });
        options().flag("--unlogged",
                       "Creates tables without a write-ahead log. They are faster on a\n"
                       "slow disk, but a crash of the server loses all locks.",
                       unlogged_);
        options().flag("--check", "Prints nothing, and checks the schema at the server of --url.",
                       check_);
        options().notes(notes);
    }

    int run(const command_line::words& given) override
    {
        if (!given.arguments.empty() || !given.command.empty())
            throw usage_error("no argument is allowed, only options");
        postgres_config where;
        if (is_postgres(url_))
            where = postgres_config(url_);
        else if (check_)
            throw usage_error("--check needs a --url that begins with postgres://");
        if (!schema_.empty())
            where.schema = schema_;
        where.validate();
        if (check_)
            check(where);
        else
            print((unlogged_ ? "set leasehold.tables = 'unlogged';\n" : "") +
                  postgres_schema(where.schema));
        return success;
    }

private:
    static void check(const postgres_config& where)
    {
        boost::asio::io_context context(1);
        database found(context, postgres_store::make_driver(where));
        // A session begins with this check.
        found.query("select 1", [&](const auto&) {
            say("schema " + where.schema + " has version " +
                std::to_string(postgres_store::schema_version) + " at " + found.server());
        });
    }

    std::string url_;
    std::string schema_;
    bool unlogged_ = false;
    bool check_ = false;
};

} // namespace

std::unique_ptr<command> make_schema_command()
{
    return std::make_unique<schema_command>();
}

} // namespace leasehold::tool
