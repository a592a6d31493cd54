// The program of this library. See README.md in this folder.
#include "../session.hpp"
#include "protocol.hpp"

#include <cstdlib>
#include <string_view>

namespace leasehold::benchmark::peers {

class renewing_lock
{
public:
    renewing_lock(client& locks, std::size_t number, const lock_options& options)
        : mutex_(locks, "peers:" + std::to_string(number), options)
    {}

    auto lock() const { return mutex_.async_lock(); }
    static auto unlock(lease& held) { return held.async_release(); }
    static void keep(lease&) {} // the client renews a lease

private:
    mutex mutex_;
};

} // namespace leasehold::benchmark::peers

// PORT LEASE [no_handoff | polling]
int main(int count, char** words)
{
    if (count < 3) {
        std::cerr << "usage: " << words[0] << " PORT LEASE [no_handoff | polling]\n";
        return 2;
    }
    namespace bench = leasehold::benchmark;
    try {
        leasehold::lock_options options;
        if (const int lease = std::atoi(words[2]); lease > 0)
            options.lease_time = std::chrono::milliseconds(lease);
        if (count > 3 && std::string_view(words[3]) == "no_handoff")
            options.handoff_count = 0;
        const bool polls = count > 3 && std::string_view(words[3]) == "polling";
        boost::asio::io_context context(1);
        bench::session all(context, "redis://127.0.0.1:" + std::string(words[1]));
        std::cout << "{\"key\":\"peers:0\"}" << std::endl;
        bench::peers::serve<leasehold::lease>(
            context,
            [&](std::size_t number) {
                return bench::peers::renewing_lock(all.locks(), number, options);
            },
            polls ? bench::peers::polling_patience : std::chrono::microseconds());
    }
    catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
