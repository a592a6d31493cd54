#ifndef LEASEHOLD_SRC_TESTING_HOST_TCP_STREAM_HPP
#define LEASEHOLD_SRC_TESTING_HOST_TCP_STREAM_HPP

#include "testing/server/segment.hpp"
#include "testing/server/server_state.hpp"
#include "testing/server/session.hpp"
#include "testing/time/host_state.hpp"

#include <leasehold/clock.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::testing::impl {

/// Data that arrives at a client at once.
struct delivery
{
    std::vector<message> messages;
    /// The connection broke within the last message: this many of its nodes have arrived.
    std::optional<std::size_t> nodes_of_last;
};

class tcp_stream;

/// The client's end of a stream. Called from the world, on no host.
class near_end
{
public:
    virtual void on_delivery(tcp_stream& from, delivery delivered) = 0;
    /// Nothing arrives any more.
    virtual void on_reset(tcp_stream& from) = 0;

protected:
    ~near_end() = default;
};

/// A connection between a host and a server, as the network between them keeps it: in order in each
/// direction, or not at all. If data is lost, all later data in the same direction is lost, until
/// one side gives the connection up.
class tcp_stream final : public session
{
public:
    tcp_stream(host_state& on, server_state& to, near_end& near)
        : host_(on), server_(to), near_(&near)
    {}

    /// From the client.
    void write(const segment_ptr& sent);
    /// The client is gone; its written data still arrives.
    void close() noexcept;

    /// Both ends learn that the connection is broken; data on its way to the server arrives.
    void reset();

    /// Every request now gets a reply: neither the path nor the server has a fault.
    [[nodiscard]] bool is_undisturbed() const noexcept;

    /// Sends to the client a message that was not published.
    void inject(const message& push);

    // From the server.
    void answer(std::vector<message> replies) override;
    void publish(const message& push) override;
    void on_server_end() override;
    void report(step reached) override { host_.report(reached); }
    [[nodiscard]] const std::string& client() const noexcept override { return host_.name; }

private:
    class to_server;
    class to_client;
    class goodbye;

    /// The arrival time of data that is sent now, not before `last`; nothing: never.
    std::optional<clock::time_point> arrival(clock::time_point& last, bool& broken,
                                             clock::time_point cut_until, std::uint64_t& lost);
    void send_down(delivery delivered);
    delivery cut_short(std::vector<message> replies);
    void send_again(const segment_ptr& sent);
    [[nodiscard]] bool chance(std::uint32_t rate) { return host_.random.chance(rate); }

    host_state& host_;
    server_state& server_;
    near_end* near_;
    clock::time_point last_up_{};
    clock::time_point last_down_{};
    to_client* behind_ = nullptr; ///< The last one on its way: later data that catches up is read
                                  ///< with it.
    bool broken_up_ = false;      ///< No more data gets through.
    bool broken_down_ = false;

    /// The connection breaks after this many replies, and this many still get through.
    struct break_off
    {
        std::size_t runs;
        std::size_t replies;
        bool stopped;
    };
    std::optional<break_off> breaks_;
};

using tcp_stream_ptr = boost::intrusive_ptr<tcp_stream>;

} // namespace leasehold::testing::impl

#endif
