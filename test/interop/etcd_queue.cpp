#include "interop/queue_server.hpp"

#include "etcd/operator_client.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/client_thread.hpp"
#include "support/etcd_server.hpp"

namespace leasehold::test {
namespace {

class etcd_queue final : public queue_server
{
public:
    std::string url() const override
    {
        return "etcd://" + server_.address() + "/locks?session=30000";
    }

    std::vector<std::string> places() const override { return {server_.address(), "locks"}; }

    void wait_for_contenders(const std::string& name, std::size_t count) override
    {
        operator_client as_operator("etcd://" + server_.address());
        const std::string prefix = etcd_store::lock_prefix("locks", name);
        wait_until([&] { return as_operator.keys(prefix).size() == count; });
    }

private:
    etcd_server server_;
};

} // namespace

std::unique_ptr<queue_server> start_queue_server()
{
    return std::make_unique<etcd_queue>();
}

} // namespace leasehold::test
