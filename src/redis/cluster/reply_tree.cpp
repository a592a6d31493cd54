#include "redis/cluster/reply_tree.hpp"

#include <boost/redis/resp3/type.hpp>

#include <charconv>

namespace leasehold::redis_store::cluster {

void reply_tree::record(const boost::redis::resp3::node_view& node)
{
    using boost::redis::resp3::type;
    if (node.data_type == type::simple_error || node.data_type == type::blob_error) {
        error_ = node.value.empty() ? std::string_view("ERR") : node.value;
        return;
    }
    nodes_.push_back({node.depth, std::string(node.value)});
}

std::vector<reply_tree::value> reply_tree::value::items() const
{
    std::vector<value> result;
    const auto& nodes = tree_->nodes_;
    if (at_ >= nodes.size())
        return result;
    for (std::size_t i = at_ + 1; i < nodes.size() && nodes[i].depth > nodes[at_].depth; ++i) {
        if (nodes[i].depth == nodes[at_].depth + 1)
            result.emplace_back(*tree_, i);
    }
    return result;
}

std::string_view reply_tree::value::text() const noexcept
{
    return at_ < tree_->nodes_.size() ? std::string_view(tree_->nodes_[at_].text)
                                      : std::string_view();
}

std::int64_t reply_tree::value::number() const noexcept
{
    const std::string_view digits = text();
    std::int64_t result = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                                result);
    return failure == std::errc() && end == digits.data() + digits.size() ? result : -1;
}

std::string_view reply_tree::value::text_of(std::string_view key) const
{
    const std::vector<value> all = items();
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
        if (all[i].text() == key)
            return all[i + 1].text();
    }
    return {};
}

std::vector<reply_tree::value> reply_tree::value::items_of(std::string_view key) const
{
    const std::vector<value> all = items();
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
        if (all[i].text() == key)
            return all[i + 1].items();
    }
    return {};
}

} // namespace leasehold::redis_store::cluster
