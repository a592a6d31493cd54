#ifndef LEASEHOLD_TOOL_SQL_DATABASE_HPP
#define LEASEHOLD_TOOL_SQL_DATABASE_HPP

#include "sql/connection/connection.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace leasehold::tool {

/// The database that keeps the locks. Connects at the first call, and again after an error. Each
/// call blocks, and runs the context meanwhile.
class database final : private sql_store::connection_user
{
public:
    using row_handler = std::function<void(const sql_store::row_reader&)>;

    database(boost::asio::io_context& context, std::shared_ptr<const sql_store::driver> how);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    /// Calls a procedure, and passes each row of its result to `take`.
    /// @throws unreachable, refused, interrupted
    void ask(const sql_store::call& made, const row_handler& take);

    /// Executes a query.
    void query(std::string text, const row_handler& take)
    {
        ask({sql_store::procedure::query, {std::move(text)}}, take);
    }

    /// The server that was asked last: "127.0.0.1:5432", or the path of a socket.
    [[nodiscard]] std::string server() const { return connection_->server(); }

private:
    void on_ready(const sql_store::session_facts&) override {}
    void on_reply(const sql_store::rows& reply) override;
    void on_failure(const sql_store::trouble& why) override;
    void on_batch_end() override { done_ = true; }
    void on_lost(const sql_store::trouble& why, bool sent_all) override;
    void on_unreachable(error_code why, const diagnostics& details) override;

    boost::asio::io_context& context_;
    const std::shared_ptr<sql_store::connection> connection_;
    bool open_ = false;
    bool done_ = false; ///< All results of the call have arrived.
    const row_handler* take_ = nullptr;
    std::optional<std::string> unreachable_; ///< The reason, with the server.
    std::optional<std::string> refused_;
};

} // namespace leasehold::tool

#endif
