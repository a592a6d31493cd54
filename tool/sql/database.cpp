#include "database.hpp"

#include "failures.hpp"
#include "interruption.hpp"

#include <utility>

namespace leasehold::tool {

database::database(boost::asio::io_context& context, std::shared_ptr<const sql_store::driver> how)
    : context_(context), connection_(std::make_shared<sql_store::connection>(std::move(how)))
{}

database::~database()
{
    connection_->close();
}

void database::ask(const sql_store::call& made, const row_handler& take)
{
    unreachable_.reset();
    refused_.reset();
    const auto failed = [this] { return unreachable_ || refused_; };
    if (!std::exchange(open_, true))
        connection_->open(context_.get_executor(), *this);
    run_until(context_, [&] { return failed() || connection_->ready() != nullptr; });
    if (!failed()) {
        done_ = false;
        take_ = &take;
        sql_store::session& to = *connection_->ready();
        to.add(made);
        to.finish_batch();
        try {
            run_until(context_, [&] { return done_ || unreachable_; });
        }
        catch (const interrupted&) {
            take_ = nullptr;
            throw;
        }
        take_ = nullptr;
    }
    if (unreachable_)
        throw unreachable(*unreachable_);
    if (refused_)
        throw refused(*refused_);
}

void database::on_reply(const sql_store::rows& reply)
{
    for (std::size_t row = 0; take_ != nullptr && row < reply.size(); ++row)
        (*take_)(sql_store::row_reader(reply, row));
}

void database::on_failure(const sql_store::trouble& why)
{
    refused_ = server() + ": " + why.from_server;
}

void database::on_lost(const sql_store::trouble& why, bool)
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

} // namespace leasehold::tool
