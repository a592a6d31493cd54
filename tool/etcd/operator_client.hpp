#ifndef LEASEHOLD_TOOL_ETCD_OPERATOR_CLIENT_HPP
#define LEASEHOLD_TOOL_ETCD_OPERATOR_CLIENT_HPP

#include "etcd/connection/http_link.hpp"
#include "etcd/protocol/replies.hpp"

#include <leasehold/etcd_config.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool {

/// A client for the requests of a person. It connects at the first request, and again after an
/// error, to the first server that can be used.
class operator_client final : etcd_store::http_link_user
{
public:
    operator_client(boost::asio::io_context& context, const etcd_config& where)
        : context_(context), where_(where)
    {}
    ~operator_client();
    operator_client(const operator_client&) = delete;
    operator_client& operator=(const operator_client&) = delete;

    /// The body of the reply to a request.
    /// @param target After "/v3/".
    /// @throws unreachable, refused, interrupted
    [[nodiscard]] std::string ask(const std::string& target, const std::string& body);

    /// The keys with this prefix, in their alphabetic order.
    /// @throws unreachable, refused, interrupted
    [[nodiscard]] std::vector<etcd_store::key_value> keys(const std::string& prefix,
                                                          bool keys_only);

    /// The server of the last request.
    [[nodiscard]] std::string server() const;

private:
    void on_open() override { open_ = true; }
    void on_closed(const etcd_store::trouble& why) override;

    void connect();
    bool try_connect(std::string& problems);
    [[nodiscard]] etcd_store::http_reply post(const std::string& target, const std::string& body);
    void close() noexcept;

    boost::asio::io_context& context_;
    const etcd_config where_;
    std::size_t at_ = 0;
    std::shared_ptr<etcd_store::http_link> link_;
    std::string token_;
    bool open_ = false;
    std::optional<std::string> closed_;
};

} // namespace leasehold::tool

#endif
