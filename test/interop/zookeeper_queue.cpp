#include "interop/queue_server.hpp"

#include "support/client_thread.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/operator_session.hpp"
#include "zookeeper/protocol/node_names.hpp"

namespace leasehold::test {
namespace {

class zookeeper_queue final : public queue_server
{
public:
    std::string url() const override { return url_of("/locks") + "session=30000"; }

    std::vector<std::string> places() const override { return {server_.address(), "/locks"}; }

    // A session of its own, because no session of an operator outlives a long test.
    void wait_for_contenders(const std::string& name, std::size_t count) override
    {
        operator_session as_operator(url_of("") + "session=60000&timeout=10000");
        const std::string node = zookeeper_store::lock_node("/locks", name);
        wait_until([&] { return as_operator.children(node).size() == count; });
    }

private:
    std::string url_of(const std::string& root) const
    {
        return "zookeeper://" + server_.address() + root +
               "?tick=" + std::to_string(zookeeper_server::tick.count()) + '&';
    }

    zookeeper_server server_;
};

} // namespace

std::unique_ptr<queue_server> start_queue_server()
{
    return std::make_unique<zookeeper_queue>();
}

} // namespace leasehold::test
