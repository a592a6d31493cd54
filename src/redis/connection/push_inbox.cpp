#include "redis/connection/push_inbox.hpp"

#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/type.hpp>

namespace leasehold::redis_store {

boost::redis::any_adapter push_inbox::adapter()
{
    using boost::redis::any_adapter;
    using boost::redis::resp3::type;
    return any_adapter(any_adapter::impl_t([this](any_adapter::parse_event event,
                                                  const boost::redis::resp3::node_view& node,
                                                  boost::system::error_code&) {
        if (event == any_adapter::parse_event::init)
            current_.clear();
        else if (event == any_adapter::parse_event::done) {
            if (!current_.empty())
                messages_.push_back(std::exchange(current_, {}));
        }
        else if (node.data_type == type::simple_error || node.data_type == type::blob_error)
            errors_.emplace_back(node.value);
        else if (node.depth > 0)
            current_.emplace_back(node.value);
    }));
}

} // namespace leasehold::redis_store
