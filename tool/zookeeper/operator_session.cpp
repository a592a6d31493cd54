#include "operator_session.hpp"

#include "failures.hpp"
#include "interruption.hpp"

#include <cstddef>
#include <utility>

namespace leasehold::tool {

operator_session::operator_session(boost::asio::io_context& context, const zookeeper_config& where)
    : context_(context), session_(std::make_shared<zookeeper_store::session>(where))
{}

operator_session::~operator_session()
{
    session_->close();
}

std::vector<operator_session::answer> operator_session::ask(
    const std::vector<zookeeper_store::request>& all)
{
    unreachable_.reset();
    if (!std::exchange(open_, true))
        session_->open(context_.get_executor(), *this);
    run_until(context_, [&] { return unreachable_ || session_->ready(); });
    if (unreachable_)
        throw unreachable(*unreachable_);

    struct answers
    {
        std::vector<answer> got;
        bool lost = false;
    };
    // The replies may come after an interruption of this call.
    const auto kept = std::make_shared<answers>();
    for (const zookeeper_store::request& each : all)
        session_->send(each, [kept](const zookeeper_store::reply& to) {
            kept->lost = kept->lost || to.failed;
            kept->got.push_back({to.error, std::string(to.body)});
        });
    run_until(context_, [&] { return kept->got.size() == all.size(); });
    if (kept->lost)
        throw unreachable(unreachable_.value_or(session_->server() + ": the connection was lost"));
    for (const answer& each : kept->got) {
        if (each.error != 0 && each.error != zookeeper_store::no_node)
            throw refused(session_->server() + ": " + zookeeper_store::text_of(each.error));
    }
    return std::move(kept->got);
}

void operator_session::on_lost(const zookeeper_store::trouble& why)
{
    unreachable_ = session_->server() + ": " +
                   (why.from_server.empty() ? why.from_here : why.from_server);
}

void operator_session::on_unreachable(error_code, const diagnostics& details)
{
    unreachable_ = details.server + ": " +
                   (details.server_message.empty() ? details.connection_error
                                                   : details.server_message);
}

} // namespace leasehold::tool
