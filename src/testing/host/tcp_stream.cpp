#include "testing/host/tcp_stream.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// The delay of a message that those of other connections overtake.
constexpr std::uint64_t late_by = 1'000'000'000;
// The delay of a second copy that comes at once.
constexpr std::uint64_t soon = 2'000'000;
// Data that is sent again and again arrives when a cut ends, unless a device on the path has
// dropped the connection by then.
constexpr clock::duration remembered = std::chrono::seconds(1);
// A server learns in the end that a client is gone, whatever the state of the path.
constexpr clock::duration keep_alive = std::chrono::seconds(1);

} // namespace

/// Commands on their way.
class tcp_stream::to_server final : public alarm
{
public:
    to_server(tcp_stream_ptr by, segment_ptr sent, std::size_t count) noexcept
        : by_(std::move(by)), what_(std::move(sent)), count_(count)
    {}

private:
    void ring() override
    {
        const std::unique_ptr<to_server> self(this);
        by_->server_.arrive(by_, what_, count_);
    }

    void drop() noexcept override { delete this; }

    tcp_stream_ptr by_;
    segment_ptr what_;
    std::size_t count_;
};

/// Replies, or push messages, on their way.
class tcp_stream::to_client final : public alarm
{
public:
    to_client(tcp_stream_ptr by, delivery delivered) noexcept
        : by_(std::move(by)), what_(std::move(delivered))
    {
        by_->behind_ = this;
    }

    ~to_client()
    {
        if (by_->behind_ == this)
            by_->behind_ = nullptr;
    }

    /// False behind a truncated message.
    bool take_along(delivery& more)
    {
        if (what_.nodes_of_last)
            return false;
        std::move(more.messages.begin(), more.messages.end(), std::back_inserter(what_.messages));
        what_.nodes_of_last = more.nodes_of_last;
        return true;
    }

private:
    void ring() override
    {
        const std::unique_ptr<to_client> self(this);
        by_->behind_ = nullptr;
        if (by_->near_ != nullptr)
            by_->near_->on_delivery(*by_, std::move(what_));
    }

    void drop() noexcept override { delete this; }

    tcp_stream_ptr by_;
    delivery what_;
};

/// The end of a connection on its way to the server.
class tcp_stream::goodbye final : public alarm
{
public:
    explicit goodbye(tcp_stream_ptr by) noexcept : by_(std::move(by)) {}

private:
    void ring() override
    {
        const std::unique_ptr<goodbye> self(this);
        if (by_->open)
            by_->server_.disconnect(*by_);
    }

    void drop() noexcept override { delete this; }

    tcp_stream_ptr by_;
};

std::optional<clock::time_point> tcp_stream::arrival(clock::time_point& last, bool& broken,
                                                     clock::time_point cut_until,
                                                     std::uint64_t& lost)
{
    if (broken) {
        ++lost;
        return std::nullopt;
    }
    const clock::time_point now = host_.time.now();
    clock::time_point when = now + host_.delay(server_);
    if (now < cut_until) {
        if (cut_until - now > remembered && host_.random.below(2) == 0) {
            broken = true;
            ++lost;
            return std::nullopt;
        }
        ++host_.befallen.late;
        when = cut_until + host_.delay(server_);
    }
    if (chance(host_.messages_to(server_).reordering)) {
        ++host_.befallen.late;
        when += clock::duration(static_cast<clock::rep>(host_.random.below(late_by)));
    }
    last = when = std::max(when, last);
    return when;
}

void tcp_stream::write(const segment_ptr& sent)
{
    const conditions& net = host_.messages_to(server_);
    if (!broken_up_ && chance(net.loss)) {
        broken_up_ = true;
        host_.line("request LOST, and all that follows it");
    }
    if (chance(net.reset_before)) {
        ++host_.befallen.requests_lost;
        host_.line("connection RESET before the request arrived");
        return reset();
    }
    std::size_t count = sent->size();
    if (chance(net.reset_after) && !breaks_) {
        count = host_.random.between<std::size_t>(1, count);
        breaks_ = break_off{count, static_cast<std::size_t>(host_.random.below(count)), false};
    }
    const bool twice = chance(net.duplication);
    if (const auto when = arrival(last_up_, broken_up_, host_.cut_until_to(server_),
                                  host_.befallen.requests_lost))
        host_.time.arm(*new to_server(this, sent, count), last_up_ = *when + clock::duration(1));
    if (!twice)
        return;
    ++host_.befallen.requests_doubled;
    send_again(sent);
}

// As by a proxy without a reply: on a connection of its own, and its replies are ignored.
void tcp_stream::send_again(const segment_ptr& sent)
{
    const auto later = host_.random.below(host_.random.below(2) == 0 ? soon : late_by);
    const auto when = host_.time.now() + host_.delay(server_) +
                      clock::duration(1 + static_cast<clock::rep>(later));
    host_.time.at(std::max(when, host_.cut_until_to(server_)),
                  [to = &server_, sent] { to->arrive(nullptr, sent, sent->size()); });
}

void tcp_stream::close() noexcept
{
    if (std::exchange(near_, nullptr) == nullptr || !open)
        return;
    const clock::time_point when = std::max({host_.time.now() + host_.delay(server_), last_up_,
                                             host_.cut_until_to(server_)}) +
                                   (broken_up_ ? keep_alive : clock::duration(1));
    host_.time.arm(*new goodbye(this), when);
}

void tcp_stream::reset()
{
    near_end* const end = near_;
    close();
    if (end != nullptr)
        end->on_reset(*this);
}

void tcp_stream::answer(std::vector<message> replies)
{
    delivery delivered;
    if (breaks_)
        delivered = cut_short(std::move(replies));
    else
        delivered.messages = std::move(replies);
    if (!broken_down_ && chance(host_.messages_to(server_).reply_loss)) {
        broken_down_ = true;
        host_.line("answer LOST, and all that follows it");
    }
    if (!delivered.messages.empty())
        send_down(std::move(delivered));
    if (!breaks_ || breaks_->runs > 0)
        return;
    host_.line("connection RESET after the request ran");
    // Behind the sent data.
    host_.time.at(std::max(last_down_, host_.time.now()) + clock::duration(1),
                  [self = tcp_stream_ptr(this)] { self->reset(); });
    server_.disconnect(*this);
}

/// The part of these replies that gets through a connection that is about to break.
delivery tcp_stream::cut_short(std::vector<message> replies)
{
    delivery delivered;
    for (message& each : replies) {
        if (breaks_->runs > 0)
            --breaks_->runs;
        if (breaks_->replies > 0) {
            --breaks_->replies;
            delivered.messages.push_back(std::move(each));
        }
        else if (!std::exchange(breaks_->stopped, true)) {
            delivered.nodes_of_last = host_.random.below(each.size());
            delivered.messages.push_back(std::move(each));
        }
    }
    return delivered;
}

void tcp_stream::publish(const message& push)
{
    if (host_.time.now() < host_.no_wakeups_until ||
        chance(host_.messages_to(server_).wakeup_loss)) {
        ++host_.befallen.wakeups_lost;
        return;
    }
    const int copies = chance(host_.messages_to(server_).wakeup_doubling) ? 2 : 1;
    host_.befallen.wakeups_doubled += copies == 2 ? 1 : 0;
    for (int i = 0; i < copies; ++i)
        send_down({{push}, std::nullopt});
}

bool tcp_stream::is_undisturbed() const noexcept
{
    const conditions& net = host_.messages_to(server_);
    const bool may_suffer = net.loss + net.reply_loss + net.duplication + net.reordering +
                                net.reset_before + net.reset_after + net.slow !=
                            0;
    return open && !broken_up_ && !broken_down_ && !breaks_ && !may_suffer &&
           !host_.is_cut_to(server_) && !host_.is_cut_from(server_) && server_.is_well();
}

void tcp_stream::inject(const message& push)
{
    send_down({{push}, std::nullopt});
}

void tcp_stream::send_down(delivery delivered)
{
    if (near_ == nullptr)
        return;
    const auto before = last_down_;
    const auto when = arrival(last_down_, broken_down_, host_.cut_until_from(server_),
                              host_.befallen.replies_lost);
    if (!when || (*when == before && behind_ != nullptr && behind_->take_along(delivered)))
        return;
    host_.time.arm(*new to_client(this, std::move(delivered)),
                   last_down_ = *when + clock::duration(1));
}

void tcp_stream::on_server_end()
{
    // A host that is cut off does not learn of it, and gets no more replies.
    if (!host_.is_cut_from(server_) && !broken_down_ && !server_.vanishes())
        return reset();
    broken_up_ = broken_down_ = true;
}

} // namespace leasehold::testing::impl
