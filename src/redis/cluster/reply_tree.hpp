#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_REPLY_TREE_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_REPLY_TREE_HPP

#include <leasehold/detail/export.hpp>

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store::cluster {

/// A reply of any form: texts, numbers, and lists of them, which may be nested. A map is a list of
/// keys and values.
class LEASEHOLD_REDIS_EXPORT reply_tree
{
public:
    void record(const boost::redis::resp3::node_view& node);

    /// The server's text. Empty: no error.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

    /// The root is the reply itself.
    class LEASEHOLD_REDIS_EXPORT value
    {
    public:
        value(const reply_tree& tree, std::size_t at) noexcept : tree_(&tree), at_(at) {}

        [[nodiscard]] std::vector<value> items() const;
        /// The value of the key in a list of keys and values. Empty if it is missing.
        [[nodiscard]] std::string_view text_of(std::string_view key) const;
        [[nodiscard]] std::vector<value> items_of(std::string_view key) const;
        [[nodiscard]] std::string_view text() const noexcept;
        /// Negative: not a whole number.
        [[nodiscard]] std::int64_t number() const noexcept;

    private:
        const reply_tree* tree_;
        std::size_t at_;
    };
    [[nodiscard]] value root() const noexcept { return {*this, 0}; }

private:
    struct entry
    {
        std::size_t depth;
        std::string text;
    };
    std::vector<entry> nodes_; ///< In the order of arrival, each before its elements.
    std::string error_;
};

} // namespace leasehold::redis_store::cluster

#endif
