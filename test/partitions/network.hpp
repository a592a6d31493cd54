#ifndef LEASEHOLD_TEST_PARTITIONS_NETWORK_HPP
#define LEASEHOLD_TEST_PARTITIONS_NETWORK_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// Nodes with a network of their own each, joined by a router between them, which is this process's
/// own network from then on.
///
/// Nothing of it has a name outside this process. The kernel removes it with the last process in
/// it, so a killed test leaves nothing behind: its children end with it. Local sockets are not
/// affected: the test reaches every server, whatever is cut.
class network
{
public:
    /// Leaves the network that this process began in, once and for good, and tries whether one with
    /// a router can be had. What is missing for it; empty: nothing. Call it first, while the
    /// process has one thread.
    [[nodiscard]] static std::string refusal();

    /// Throws `std::runtime_error`.
    explicit network(std::size_t nodes);
    ~network();
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] static std::string address(std::size_t node);

    /// While it lives, sockets and processes of this thread begin at the node.
    [[nodiscard]] std::shared_ptr<void> enter(std::size_t node) const;

    struct way
    {
        std::size_t from;
        std::size_t to;
    };
    /// Messages from one to the other vanish, without a notification.
    void cut(const std::vector<way>& ways);
    /// Every cut is mended.
    void mend();

    /// The node's link is down, until it is up again.
    void unplug(std::size_t node);
    void plug(std::size_t node);

private:
    class descriptor;

    std::shared_ptr<descriptor> router_;
    std::vector<std::shared_ptr<descriptor>> nodes_;
    std::vector<std::string> cuts_;
};

} // namespace leasehold::test

#endif
