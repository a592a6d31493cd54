#ifndef LEASEHOLD_SRC_TESTING_TCP_STREAM_HPP
#define LEASEHOLD_SRC_TESTING_TCP_STREAM_HPP

#include "testing/host_state.hpp"
#include "testing/segment.hpp"
#include "testing/server_state.hpp"
#include "testing/session.hpp"

#include <leasehold/clock.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::testing::impl {

/// What arrives at a client at once.
struct delivery
{
    std::vector<message> messages;
    /// The connection broke within the last message: so many of its nodes have come.
    std::optional<std::size_t> nodes_of_last;
};

class tcp_stream;

/// The client's end of a stream. Called from the world, on no host.
class near_end
{
public:
    virtual void on_delivery(tcp_stream& from, delivery delivered) = 0;
    /// Nothing comes any more.
    virtual void on_reset(tcp_stream& from) = 0;

protected:
    ~near_end() = default;
};

/// A connection between a host and a server, as the network between them keeps it: in order each
/// way, or not at all. What is lost on the way takes all with it that comes behind it the same way,
/// until somebody gives the connection up.
class tcp_stream final : public session
{
public:
    tcp_stream(host_state& on, server_state& to, near_end& near)
        : host_(on), server_(to), near_(&near)
    {}

    /// From the client.
    void write(const segment_ptr& sent);
    /// The client is gone; what it has written arrives all the same.
    void close() noexcept;

    /// Both ends hear that the connection is broken; what is under way to the server arrives.
    void reset();

    /// What is asked now is answered, whatever it is: nothing on the way, or in the server, is in
    /// trouble.
    [[nodiscard]] bool is_undisturbed() const noexcept;

    /// To the client, though nobody published it.
    void inject(const message& said);

    // From the server.
    void answer(std::vector<message> said) override;
    void publish(const message& said) override;
    void on_server_end() override;
    void told(step reached) override { host_.told(reached); }
    [[nodiscard]] const std::string& client() const noexcept override { return host_.name; }

private:
    class to_server;
    class to_client;
    class goodbye;

    /// When what leaves now arrives, not before `last`; nothing: never.
    std::optional<clock::time_point> arrival(clock::time_point& last, bool& broken,
                                             clock::time_point cut_until, std::uint64_t& lost);
    void send_down(delivery delivered);
    delivery cut_short(std::vector<message> said);
    void send_again(const segment_ptr& sent);
    [[nodiscard]] bool chance(std::uint32_t rate) { return host_.random.chance(rate); }

    host_state& host_;
    server_state& server_;
    near_end* near_;
    clock::time_point last_up_{};
    clock::time_point last_down_{};
    to_client* behind_ = nullptr; ///< The last that is on its way: what catches up is read with it.
    bool broken_up_ = false;      ///< Nothing gets through any more.
    bool broken_down_ = false;

    /// The connection breaks when the server has answered so often, and so many answers still get
    /// through.
    struct break_off
    {
        std::size_t runs;
        std::size_t heard;
        bool stopped;
    };
    std::optional<break_off> breaks_;
};

using tcp_stream_ptr = boost::intrusive_ptr<tcp_stream>;

} // namespace leasehold::testing::impl

#endif
