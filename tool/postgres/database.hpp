#ifndef LEASEHOLD_TOOL_POSTGRES_DATABASE_HPP
#define LEASEHOLD_TOOL_POSTGRES_DATABASE_HPP

#include "postgres/connection/connection.hpp"
#include "postgres/connection/pq.hpp"
#include "postgres/protocol/errors.hpp"
#include "postgres/protocol/parameters.hpp"

#include <leasehold/postgres_config.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace leasehold::tool {

/// The database that keeps the locks. Connects at the first call, and again after an error. Each
/// call blocks, and runs the context meanwhile.
class database final : private postgres_store::connection_user
{
public:
    database(boost::asio::io_context& context, const postgres_config& where);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    /// Executes a statement, and calls `take` with each row of its result.
    /// @throws unreachable, refused, interrupted
    void ask(const std::string& text, const postgres_store::parameters& values,
             const std::function<void(const postgres_store::row_reader&)>& take);

    /// A function of the locks with its schema: `"leasehold".held`.
    [[nodiscard]] std::string named(const char* function) const;

    /// The server that was asked last: "127.0.0.1:5432", or the path of a socket.
    [[nodiscard]] std::string server() const { return connection_->server(); }

private:
    void on_setup(postgres_store::session&) override {}
    void on_ready(std::int64_t) override {}
    void on_result(const PGresult& result) override;
    void on_lost(const postgres_store::trouble& why, bool sent_all) override;
    void on_unreachable(error_code why, const diagnostics& details) override;

    void run_until(const std::function<bool()>& reached);

    boost::asio::io_context& context_;
    const std::string schema_;
    const std::shared_ptr<postgres_store::connection> connection_;
    bool open_ = false;
    bool done_ = false; ///< All results of the statement have arrived.
    const std::function<void(const postgres_store::row_reader&)>* take_ = nullptr;
    std::optional<std::string> unreachable_; ///< The reason, with the server.
    std::optional<std::string> refused_;
};

} // namespace leasehold::tool

#endif
