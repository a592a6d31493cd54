// Any bytes as each message of a ZooKeeper server, and as names of nodes.
#include "fuzz/targets.hpp"

#include "zookeeper/protocol/jute.hpp"
#include "zookeeper/protocol/messages.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::fuzz {

using namespace zookeeper_store;

namespace {

void children_of_a_node(std::string_view input)
{
    const auto names = read_children(input);
    if (!names)
        return;
    jute_writer to;
    to.number(static_cast<std::int32_t>(names->size()));
    std::size_t bytes = 4;
    for (const std::string& each : *names) {
        to.text(each);
        bytes += 4 + each.size();
    }
    require(bytes <= input.size(), "more is read than was sent");
    require(read_children(to.take()) == names, "children are read with another result");

    const queue_view queue(*names);
    const auto& all = queue.children();
    for (std::size_t i = 0; i < all.size(); ++i) {
        require(number_of_child(all[i].name) == all[i].number, "a child has another number");
        require(queue.contains(all[i].name), "a child is not found");
    }
    if (all.empty())
        return;
    require(queue.is_first(all.front().number), "the first is not the first");
    for (const auto& each : all) {
        if (queue.is_first(each.number))
            continue;
        const auto& before = queue.before(each.number);
        require(before.number != each.number, "an owner waits for itself");
        require(queue.position(each.number) < all.size(), "a position behind the queue");
    }
}

void names_of_nodes(std::string_view input)
{
    const std::string node = lock_node("", input);
    require(lock_of_node(std::string_view(node).substr(1)) == std::string(input),
            "a name is read with another result", node);
    for (const char c : node)
        require(c > ' ' && c < '\x7f', "a node has a name that is not printable", node);
    require(node.find('/', 1) == node.npos, "a name has two nodes", node);
    const std::string prefix = child_prefix(input, {});
    const std::string child = prefix + "0000000007";
    require(owner_of_child(child) == input, "an owner is read with another result", child);
    require(is_child_of(child, prefix), "a child is not its owner's", child);
    require(number_of_child(child) == 7, "a child has another number", child);
    require(!is_child_of(child_prefix(input, "e") + "0000000007", prefix),
            "an entry is taken for its owner", child);
    static_cast<void>(number_of_child(input));
    static_cast<void>(owner_of_child(input));
}

} // namespace

void zookeeper(std::string_view input)
{
    if (const auto given = read_connect_reply(input))
        require(given->password.size() <= input.size(), "a password of more than was sent");
    std::string_view body = input;
    if (take_header(body))
        require(body.size() + 16 == input.size(), "a header has another length");
    static_cast<void>(read_event(input));
    static_cast<void>(read_created(input));
    static_cast<void>(read_multi(input));
    if (const auto got = read_data(input))
        require(got->data.size() + 4 <= input.size(), "data of more than was sent");
    children_of_a_node(input);
    names_of_nodes(input);
}

} // namespace leasehold::fuzz
