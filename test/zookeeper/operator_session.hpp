#ifndef LEASEHOLD_TEST_ZOOKEEPER_OPERATOR_SESSION_HPP
#define LEASEHOLD_TEST_ZOOKEEPER_OPERATOR_SESSION_HPP

#include "zookeeper/connection/session.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A session of an operator, whose requests wait for their replies.
class operator_session final : zookeeper_store::session_user
{
public:
    explicit operator_session(const std::string& url);
    ~operator_session();
    operator_session(const operator_session&) = delete;
    operator_session& operator=(const operator_session&) = delete;

    struct answer
    {
        std::int32_t error = 0;
        std::string body;
    };
    answer ask(const zookeeper_store::request& what);

    void create(const std::string& path, zookeeper_store::node_kind kind);
    void remove(const std::string& path);
    [[nodiscard]] std::vector<std::string> children(const std::string& path);
    /// Removes the children of a node, and theirs.
    void clear(const std::string& path);
    /// The session to which a node belongs; 0: there is no such node.
    [[nodiscard]] std::int64_t session_of(const std::string& path);

private:
    void on_connected(bool) override {}
    void on_lost(const zookeeper_store::trouble& why) override;
    void on_unreachable(error_code, const diagnostics&) override {}
    void on_event(const zookeeper_store::watch_event&) override {}

    boost::asio::io_context context_;
    std::shared_ptr<zookeeper_store::session> session_;
};

} // namespace leasehold::test

#endif
