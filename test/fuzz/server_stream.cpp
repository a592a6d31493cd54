#include "fuzz/server_stream.hpp"

namespace leasehold::fuzz {

namespace resp3 = boost::redis::resp3;

server_stream::result server_stream::read(boost::redis::any_adapter* to,
                                          boost::redis::any_adapter& push_inbox)
{
    const result incomplete = guard_.violation() ? result::broken : result::nothing;
    if (buffer_.empty())
        return incomplete;
    if (!begun_) {
        is_push_ = to == nullptr || buffer_.front() == '>';
        begun_ = true;
        last_.clear();
    }
    // Records the nodes on their way to the reader.
    struct tap
    {
        message& written;
        boost::redis::any_adapter& reader;

        void on_init() { reader.on_init(); }
        void on_done() { reader.on_done(); }
        void on_node(const resp3::node_view& node, boost::system::error_code& failed)
        {
            written.push_back(
                {node.data_type, node.aggregate_size, node.depth, std::string(node.value)});
            reader.on_node(node, failed);
        }
    } through{last_, is_push_ ? push_inbox : *to};
    boost::system::error_code failed;
    if (!resp3::parse(parser_, buffer_, through, failed))
        return incomplete;
    if (failed)
        return result::broken;
    buffer_.erase(0, parser_.get_consumed());
    parser_.reset();
    begun_ = false;
    return is_push_ ? result::pushed : result::answer;
}

} // namespace leasehold::fuzz
