#ifndef LEASEHOLD_TEST_ETCD_OPERATOR_CLIENT_HPP
#define LEASEHOLD_TEST_ETCD_OPERATOR_CLIENT_HPP

#include "etcd/connection/http_link.hpp"
#include "etcd/protocol/replies.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A client of an operator, whose requests wait for their replies.
class operator_client final : etcd_store::http_link_user
{
public:
    explicit operator_client(const std::string& url);
    ~operator_client();
    operator_client(const operator_client&) = delete;
    operator_client& operator=(const operator_client&) = delete;

    /// The body of the reply, which has the status 200.
    std::string ask(const std::string& target, const std::string& body);

    [[nodiscard]] std::vector<etcd_store::key_value> keys(const std::string& prefix);
    void put(const std::string& key, const std::string& value, std::int64_t lease = 0);
    void remove(const std::string& key);
    /// Removes all keys with this prefix.
    void clear(const std::string& prefix);
    [[nodiscard]] std::int64_t grant(std::int64_t seconds);
    void revoke(std::int64_t lease);

private:
    void on_open() override { open_ = true; }
    void on_closed(const etcd_store::trouble& why) override;

    const etcd_config settings_;
    boost::asio::io_context context_;
    std::shared_ptr<etcd_store::http_link> link_;
    std::string token_;
    bool open_ = false;
};

} // namespace leasehold::test

#endif
