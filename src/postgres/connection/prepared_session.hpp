#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_PREPARED_SESSION_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_PREPARED_SESSION_HPP

#include "postgres/connection/session.hpp"
#include "sql/connection/session.hpp"

#include <leasehold/postgres_config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::postgres_store {

/// A session with its settings: either with prepared statements, or with notifications of grants.
class prepared_session final : public sql_store::session,
                               private session_user,
                               public std::enable_shared_from_this<prepared_session>
{
public:
    prepared_session(const asio::any_io_executor& strand, const postgres_config& settings,
                     std::size_t server, std::string password,
                     const std::optional<std::string>& listens);
    ~prepared_session() override { session_->close(); }

    void open(sql_store::session_user& user) override;
    void close() noexcept override;
    void abandon() noexcept override;
    void leave() noexcept override;
    void add(const sql_store::call& made) override;
    void finish_batch() override { session_->finish_batch(); }
    void check() override;
    [[nodiscard]] bool sent_all() const noexcept override { return session_->sent_all(); }

private:
    void on_open() override;
    void on_result(const PGresult& result) override;
    void on_notification(std::string_view payload) override;
    void on_closed(const trouble& why) override;
    void on_setup_result(const PGresult& result);
    void end_setup();

    const postgres_config& settings_;
    const std::string schema_;
    const std::optional<std::string> listens_;
    const std::shared_ptr<postgres_store::session> session_;
    sql_store::session_user* user_ = nullptr;

    bool ready_ = false;
    std::size_t answered_ = 0; ///< Statements of the setup with a result.
    trouble failed_;           ///< The first that failed.
    bool read_only_ = false;
    std::int64_t version_ = 0; ///< Of the schema.
    sql_store::session_facts known_;
};

} // namespace leasehold::postgres_store

#endif
