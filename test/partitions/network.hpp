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
    /// Leaves the network in which this process began, once and forever, and tries to create one
    /// with a router. Returns the reason why this is impossible; empty: it is possible. Call it
    /// first, while the process has one thread.
    [[nodiscard]] static std::string refusal();

    /// Throws `std::runtime_error`.
    explicit network(std::size_t nodes);
    ~network();
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] static std::string address(std::size_t node);

    /// As long as the result lives, this thread creates sockets and processes at the node.
    [[nodiscard]] std::shared_ptr<void> enter(std::size_t node) const;

    struct way
    {
        std::size_t from;
        std::size_t to;
    };
    /// Messages in these directions are dropped, and no error is reported.
    void cut(const std::vector<way>& ways);
    /// Repairs every cut.
    void mend();

    /// Sets the link of the node down, until `plug`.
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
