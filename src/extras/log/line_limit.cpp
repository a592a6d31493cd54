#include "extras/log/line_limit.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {

line_limit::verdict line_limit::judge(std::string_view topic, clock::time_point now)
{
    while (!topics_.empty() && now - topics_.front().at >= period)
        topics_.pop_front();
    if (std::any_of(topics_.begin(), topics_.end(),
                    [&](const written& each) { return each.topic == topic; }))
        return verdict::repeated;
    if (topics_.size() >= lines)
        return std::exchange(silent_, true) ? verdict::too_many : verdict::last;
    silent_ = false;
    topics_.push_back({std::string(topic), now});
    return verdict::write;
}

} // namespace leasehold::detail
