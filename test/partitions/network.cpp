#include "partitions/network.hpp"

#include "support/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace leasehold::test {
namespace {

using lines = std::vector<std::string>;

[[noreturn]] void fail(const std::string& what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

/// Each line contains the arguments of `ip`.
void ip(const lines& commands)
{
    const char* const path = std::getenv("PATH");
    // The folders of `ip` on many systems, which are only in the PATH of root.
    const std::string wider = std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin";
    process run({"sh", "-c", "exec ip -batch - 2>&1"}, {{"PATH", wider}});
    try {
        for (const std::string& each : commands)
            run.write_line(each);
    }
    catch (const std::system_error&) {
        // The program has ended, and prints the reason.
    }
    run.close_input();
    std::string said;
    while (const std::optional<std::string> line = run.read_line())
        said += (said.empty() ? "" : "; ") + *line;
    if (run.wait().code != 0)
        throw std::runtime_error("ip: " + said);
}

void write(const char* file, const std::string& text)
{
    std::ofstream to(file);
    if (!(to << text << std::flush))
        fail(std::string("cannot write to ") + file);
}

/// Root only needs a new network. Another user also becomes root in a new user namespace.
void leave_network()
{
    if (::unshare(CLONE_NEWNET) == 0)
        return;
    const std::string user = std::to_string(::geteuid());
    const std::string group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        fail("no network namespace can be made");
    write("/proc/self/setgroups", "deny");
    write("/proc/self/uid_map", "0 " + user + " 1");
    write("/proc/self/gid_map", "0 " + group + " 1");
}

std::string number_of(std::size_t node)
{
    return std::to_string(node + 1);
}

std::string router_address(std::size_t node)
{
    return "10.77." + number_of(node) + ".1";
}

std::string link_of(std::size_t node)
{
    return "node" + number_of(node);
}

} // namespace

/// The network of the calling thread.
class network::descriptor
{
public:
    descriptor() : number_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
    {
        if (number_ < 0)
            fail("/proc/thread-self/ns/net");
    }
    ~descriptor() { ::close(number_); }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    void enter() const
    {
        if (::setns(number_, CLONE_NEWNET) != 0)
            fail("a network namespace cannot be entered");
    }

    /// A path for other programs, valid while this process lives.
    [[nodiscard]] std::string path() const
    {
        return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(number_);
    }

private:
    int number_;
};

std::string network::refusal()
{
    try {
        leave_network();
        write("/proc/sys/net/ipv4/ip_forward", "1");
        network tried(2);
        tried.cut({{0, 1}});
        tried.mend();
        tried.unplug(0);
        tried.plug(0);
        return {};
    }
    catch (const std::exception& why) {
        return why.what();
    }
}

network::network(std::size_t nodes) : router_(std::make_shared<descriptor>())
{
    for (std::size_t i = 0; i < nodes; ++i) {
        if (::unshare(CLONE_NEWNET) != 0)
            fail("no network namespace can be made");
        nodes_.push_back(std::make_shared<descriptor>());
        // Returns to the previous network also after an error.
        const std::shared_ptr<void> here = enter(i);
        ip({"link set lo up",
            "link add eth0 type veth peer name " + link_of(i) + " netns " + router_->path(),
            "addr add " + address(i) + "/30 dev eth0", "link set eth0 up",
            "route add default via " + router_address(i)});
    }
    router_->enter();
    lines ends;
    for (std::size_t i = 0; i < nodes; ++i) {
        ends.push_back("addr add " + router_address(i) + "/30 dev " + link_of(i));
        ends.push_back("link set " + link_of(i) + " up");
    }
    ip(ends);
}

// The kernel would remove them later, but the next network has links of the same names.
network::~network()
{
    lines links;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        links.push_back("link del " + link_of(i));
    try {
        mend();
        ip(links);
    }
    catch (const std::exception&) {
        // It goes with this process.
    }
}

std::string network::address(std::size_t node)
{
    return "10.77." + number_of(node) + ".2";
}

std::shared_ptr<void> network::enter(std::size_t node) const
{
    nodes_.at(node)->enter();
    return {nullptr, [back = router_](void*) { back->enter(); }};
}

// The rule matches the incoming link. A rule about addresses would also apply to replies, when the
// router checks whether they come from a permitted place.
void network::cut(const std::vector<way>& ways)
{
    lines rules;
    for (const way& each : ways) {
        cuts_.push_back("iif " + link_of(each.from) + " to " + address(each.to) + " blackhole");
        rules.push_back("rule add " + cuts_.back());
    }
    ip(rules);
}

void network::mend()
{
    lines undone;
    for (const std::string& each : std::exchange(cuts_, {}))
        undone.push_back("rule del " + each);
    ip(undone);
}

void network::unplug(std::size_t node)
{
    ip({"link set " + link_of(node) + " down"});
}

void network::plug(std::size_t node)
{
    ip({"link set " + link_of(node) + " up"});
}

} // namespace leasehold::test
