#include "redis/cluster/topology_question.hpp"

#include "redis/config/address.hpp"
#include "redis/protocol/reply.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// Then another node is queried. A node that hangs is queried again with the next question.
constexpr std::chrono::milliseconds node_patience{1'000};

/// The number behind a word; 0: there is none.
std::uint64_t number_after(std::string_view word, std::string_view text) noexcept
{
    std::uint64_t number = 0;
    if (const auto at = text.find(word); at != text.npos)
        std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
    return number;
}

} // namespace

topology_question::topology_question(const redis_config& settings,
                                     std::shared_ptr<environment> from,
                                     std::vector<redis_config::address> nodes, std::uint64_t epoch,
                                     listener callbacks)
    : settings_(settings),
      from_(std::move(from)),
      nodes_(std::move(nodes)),
      known_epoch_(epoch),
      callbacks_(std::move(callbacks)),
      why_(errc::store_unavailable),
      time_(from_->make_time())
{}

void topology_question::open(const asio::any_io_executor& strand)
{
    strand_ = strand;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->give_up(errc::store_unavailable, "no answer in time");
    });
    ask_next();
}

void topology_question::close() noexcept
{
    time_->close();
    callbacks_ = {};
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
}

void topology_question::drop() noexcept
{
    time_->close();
    callbacks_ = {};
    if (const auto last = std::exchange(connection_, nullptr))
        last->drop();
}

void topology_question::ask_next()
{
    if (next_ == nodes_.size()) {
        if (outdated_) // the cluster may have been made anew
            return found(*std::exchange(outdated_, std::nullopt));
        const auto done = std::move(callbacks_.failed);
        close();
        if (text_.empty()) {
            for (const std::string& each : unreached_)
                text_.append(text_.empty() ? "" : "; ").append(each);
        }
        return done(why_, text_);
    }
    redis_config where = settings_;
    where.addresses = {nodes_[next_++]};
    where.timeout = std::min(where.timeout, node_patience);
    connection_ = std::make_shared<reconnecting_connection>(*from_, strand_, where);
    time_->wake_at(time_->now() + std::min(settings_.timeout, node_patience));
    connection_->open(*this);
}

void topology_question::on_attempt()
{
    ask("INFO", [this](const reply_tree& answer) { on_state(answer); });
}

void topology_question::ask(const char* what, std::function<void(const reply_tree&)> read)
{
    const auto request = std::make_shared<boost::redis::request>(
        boost::redis::request::config{.cancel_on_connection_lost = true,
                                      .cancel_if_unresponded = true,
                                      .hello_with_priority = false});
    request->push("CLUSTER", what);
    const auto answer = std::make_shared<reply_tree>();
    using boost::redis::any_adapter;
    any_adapter adapter(
        any_adapter::impl_t([answer](any_adapter::parse_event event,
                                     const boost::redis::resp3::node_view& node, error_code&) {
            if (event == any_adapter::parse_event::node)
                answer->record(node);
        }));
    connection_->send(*request, std::move(adapter),
                      [weak = weak_from_this(), over = connection_.get(), request, answer,
                       read = std::move(read)](error_code failed) {
                          const auto self = weak.lock();
                          if (self && !failed && self->connection_.get() == over)
                              read(*answer);
                      });
}

/// A node that does not reach the others serves no requests, and its map may be outdated.
void topology_question::on_state(const reply_tree& answer)
{
    if (answer.error().empty() &&
        answer.root().text().find("cluster_state:fail") != std::string_view::npos)
        return give_up(errc::store_refused, "CLUSTERDOWN the node reports cluster_state:fail");
    epoch_ = number_after("cluster_current_epoch:", answer.root().text());
    ask_map(true);
}

void topology_question::ask_map(bool shards)
{
    ask(shards ? "SHARDS" : "SLOTS",
        [this, shards](const reply_tree& answer) { on_answer(shards, answer); });
}

void topology_question::on_answer(bool shards, const reply_tree& answer)
{
    // A server before 7.0 knows only the older command.
    const bool unknown = answer.error().starts_with("ERR unknown") ||
                         answer.error().starts_with("ERR Unknown");
    if (shards && unknown)
        return ask_map(false);
    if (!answer.error().empty())
        return give_up(answer.error().find("cluster support disabled") != std::string::npos
                           ? errc::not_supported
                           : classify(answer.error()),
                       answer.error());
    const redis_config::address& node = nodes_[next_ - 1];
    const address_reading reached(settings_);
    auto map = shards ? read_shards(answer, node, reached) : read_slots(answer, node, reached);
    if (!map) // it has not met the others yet, or has been removed
        return give_up(errc::store_refused, "the node knows no server of any slot");
    map->epoch = epoch_;
    if (epoch_ == 0 || epoch_ >= known_epoch_)
        return found(std::move(*map));
    if (!outdated_ || outdated_->epoch < epoch_)
        outdated_ = std::move(map);
    give_up(errc::store_refused, "the node has an outdated map");
}

void topology_question::found(topology map)
{
    const auto done = std::move(callbacks_.found);
    const auto self = shared_from_this();
    close();
    done(map);
}

void topology_question::on_lost(error_code why, std::string_view text)
{
    give_up(why, text);
}

void topology_question::give_up(error_code why, std::string_view text)
{
    if (!callbacks_.failed)
        return;
    const auto self = shared_from_this();
    // A server's reply is more useful than the report that another is unreachable.
    const bool refused = why == condition::bad_request || why == errc::store_refused;
    if (refused && (!text.empty() || text_.empty())) {
        why_ = why;
        text_ = text;
    }
    else if (!refused && !text.empty()) {
        unreached_.insert(name_of(nodes_[next_ - 1]).append(": ").append(text));
    }
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
    ask_next();
}

} // namespace leasehold::redis_store::cluster
