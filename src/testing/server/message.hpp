#ifndef LEASEHOLD_SRC_TESTING_SERVER_MESSAGE_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_MESSAGE_HPP

#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/type.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {

/// A message of a simulated server in one piece: the reply to a command, or a push message. Nodes,
/// as a parser finds them in the bytes.
class message
{
public:
    using type = boost::redis::resp3::type;

    static message number(std::int64_t value) { return one(type::number, std::to_string(value)); }
    static message status(std::string_view text) { return one(type::simple_string, text); }
    static message blob(std::string_view text) { return one(type::blob_string, text); }
    static message error(std::string_view text) { return one(type::simple_error, text); }
    static message null() { return one(type::null, {}); }

    static message numbers(std::span<const std::int64_t> values)
    {
        message all;
        all.nodes_.reserve(values.size() + 1);
        all.begin(type::array, values.size());
        for (const std::int64_t each : values)
            all.add(type::number, std::to_string(each));
        return all;
    }

    static message numbers(std::initializer_list<std::int64_t> values)
    {
        return numbers(std::span(values.begin(), values.size()));
    }

    static message strings(type of, std::initializer_list<std::string_view> values)
    {
        message all;
        all.begin(of, values.size());
        for (const std::string_view each : values)
            all.add(type::blob_string, each);
        return all;
    }

    void reserve(std::size_t nodes) { nodes_.reserve(nodes); }
    /// An array, a map (whose elements are pairs) or a push.
    void begin(type of, std::size_t elements, std::size_t depth = 0)
    {
        nodes_.push_back({of, elements, depth, {}});
    }
    void add(type of, std::string_view text, std::size_t depth = 1)
    {
        nodes_.push_back({of, 1, depth, std::string(text)});
    }

    [[nodiscard]] bool is_push() const noexcept { return nodes_.front().data_type == type::push; }
    [[nodiscard]] bool is_error() const noexcept
    {
        return nodes_.front().data_type == type::simple_error;
    }
    [[nodiscard]] const std::vector<boost::redis::resp3::node>& nodes() const noexcept
    {
        return nodes_;
    }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    /// Passes the first `count` nodes, and reports the end if these were all. An error of the
    /// adapter is in `failed`.
    void read(boost::redis::any_adapter& into, std::size_t count,
              boost::system::error_code& failed) const
    {
        into.on_init();
        for (std::size_t i = 0; i < count && !failed; ++i)
            into.on_node(
                {nodes_[i].data_type, nodes_[i].aggregate_size, nodes_[i].depth, nodes_[i].value},
                failed);
        if (count == nodes_.size() && !failed)
            into.on_done();
    }

private:
    static message one(type of, std::string_view text)
    {
        message all;
        all.nodes_.push_back({of, 1, 0, std::string(text)});
        return all;
    }

    std::vector<boost::redis::resp3::node> nodes_;
};

} // namespace leasehold::testing::impl

#endif
