#include "fuzz/server_stream.hpp"

namespace leasehold::fuzz {

namespace resp3 = boost::redis::resp3;

bool server_stream::readable(std::string_view bytes)
{
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool blob = bytes[at] == '$' || bytes[at] == '=' || bytes[at] == '!';
        const std::string_view rest = bytes.substr(at + 1);
        if (bytes[at] == ';' || (blob && (rest.starts_with('?') || rest.starts_with("\r\n"))))
            return false;
    }
    return true;
}

server_stream::result server_stream::read(boost::redis::any_adapter* to,
                                          boost::redis::any_adapter& push_inbox)
{
    if (buffer_.empty())
        return result::nothing;
    if (!begun_) {
        is_push_ = to == nullptr || buffer_.front() == '>';
        begun_ = true;
        last_.clear();
    }
    // Written down on its way to who reads it.
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
        return result::nothing;
    if (failed)
        return result::broken;
    buffer_.erase(0, parser_.get_consumed());
    parser_.reset();
    begun_ = false;
    return is_push_ ? result::pushed : result::answer;
}

} // namespace leasehold::fuzz
