#include "database.hpp"

#include "failures.hpp"
#include "interruption.hpp"

#include "postgres/protocol/identifier.hpp"

#include <utility>

namespace leasehold::tool {

namespace asio = boost::asio;
using namespace postgres_store;

database::database(asio::io_context& context, const postgres_config& where)
    : context_(context),
      schema_(quoted(where.schema)),
      connection_(std::make_shared<connection>(where))
{}

database::~database()
{
    connection_->close();
}

std::string database::named(const char* function) const
{
    return schema_ + '.' + function;
}

void database::ask(const std::string& text, const parameters& values,
                   const std::function<void(const row_reader&)>& take)
{
    unreachable_.reset();
    refused_.reset();
    const auto failed = [this] { return unreachable_ || refused_; };
    if (!std::exchange(open_, true))
        connection_->open(context_.get_executor(), *this);
    run_until([&] { return failed() || connection_->ready() != nullptr; });
    if (!failed()) {
        done_ = false;
        take_ = &take;
        session& to = *connection_->ready();
        to.execute(text, values);
        to.finish_batch();
        run_until([&] { return done_ || unreachable_; });
        take_ = nullptr;
    }
    if (unreachable_)
        throw unreachable(*unreachable_);
    if (refused_)
        throw refused(*refused_);
}

void database::on_result(const PGresult& result)
{
    switch (PQresultStatus(&result)) {
    case PGRES_PIPELINE_SYNC: done_ = true; break;
    case PGRES_FATAL_ERROR: refused_ = server() + ": " + trouble_of(result).from_server; break;
    case PGRES_TUPLES_OK:
        for (int row = 0; take_ != nullptr && row < PQntuples(&result); ++row)
            (*take_)(row_reader(result, row));
        break;
    default: break;
    }
}

void database::on_lost(const trouble& why, bool)
{
    unreachable_ = server() + ": " + (why.from_server.empty() ? why.from_here : why.from_server);
}

void database::on_unreachable(error_code, const diagnostics& details)
{
    if (details.server_message.empty())
        unreachable_ = details.server + ": " + details.connection_error;
    else
        refused_ = details.server + ": " + details.server_message;
}

void database::run_until(const std::function<bool()>& reached)
{
    context_.restart();
    while (!reached()) {
        if (is_interrupted(context_)) {
            take_ = nullptr;
            throw interrupted();
        }
        if (context_.run_one() == 0)
            context_.restart();
    }
}

} // namespace leasehold::tool
