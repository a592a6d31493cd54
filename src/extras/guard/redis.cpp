#include <leasehold/extras/guard/redis.hpp>

#include "extras/guard/fence_text.hpp"
#include "leasehold_scripts.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/slot.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>

#include <algorithm>
#include <string_view>

namespace leasehold::guard {

error_code redis_write::check() const
{
    if (const error_code failed = check_fence(fence_))
        return failed;
    const bool keys = std::ranges::none_of(keys_, &std::string::empty);
    if (!complete_ || words_.empty() || !keys)
        return errc::invalid_write;
    using redis_store::slot_of;
    const auto slot = slot_of(keys_.front());
    if (!std::ranges::all_of(keys_, [&](const std::string& key) { return slot_of(key) == slot; }))
        return errc::different_slots;
    return {};
}

std::vector<std::string> redis_write::command() const
{
    std::vector<std::string> result{"EVAL", scripts::guarded_write, std::to_string(keys_.size())};
    result.insert(result.end(), keys_.begin(), keys_.end());
    result.push_back(std::to_string(fence_));
    result.insert(result.end(), words_.begin(), words_.end());
    return result;
}

} // namespace leasehold::guard

namespace leasehold::detail {
namespace {

namespace redis = boost::redis;

/// Outlives the call: Boost.Redis keeps pointers into it until it completes.
struct write_operation
{
    redis_connection_ptr connection;
    redis::request request;
    redis_store::reply reply;
    guard::redis_answer* answer;
    guarded_write_handler handler;
};

error_code meaning_of(const redis_store::reply& reply, guard::redis_answer& answer)
{
    if (!reply.error.empty()) {
        answer.text = reply.error;
        return redis_store::classify(reply.error);
    }
    std::string_view text = reply.text ? std::string_view(*reply.text) : std::string_view();
    const auto begins = [&](std::string_view word) {
        if (!text.starts_with(word))
            return false;
        text.remove_prefix(word.size());
        return true;
    };
    if (text == "done")
        return {};
    if (text == "damaged")
        return guard::errc::damaged_fence;
    if (begins("stale ")) {
        answer.newest_fence = guard::fence_of(text);
        return guard::errc::stale_fence;
    }
    if (begins("failed ")) {
        answer.text = text;
        return guard::errc::write_failed;
    }
    return errc::outcome_unknown;
}

void complete_write(std::unique_ptr<write_operation> done, error_code failed)
{
    guard::redis_answer answer;
    if (!failed)
        failed = meaning_of(done->reply, answer);
    if (done->answer != nullptr)
        *done->answer = std::move(answer);
    // The memory of the operation is free before the handler runs.
    guarded_write_handler handler = std::move(done->handler);
    done.reset();
    std::move(handler)(failed);
}

} // namespace

asio::any_io_executor executor_of(const redis_connection_ptr& connection) noexcept
{
    return connection->get_executor();
}

void start_guarded_write(guarded_write_handler handler, redis_connection_ptr connection,
                         const guard::redis_write& write, guard::redis_answer* answer)
{
    const asio::any_io_executor executor = executor_of(connection);
    if (const error_code failed = write.check()) {
        if (answer != nullptr)
            *answer = {};
        asio::post(executor, asio::append(std::move(handler), failed));
        return;
    }
    auto started = std::make_unique<write_operation>();
    started->connection = std::move(connection);
    const std::vector<std::string> words = write.command();
    started->request.push_range(words.front(), words.begin() + 1, words.end());
    started->answer = answer;
    started->handler = std::move(handler);
    write_operation& op = *started;
    redis::any_adapter adapter([&reply = op.reply](redis::any_adapter::parse_event event,
                                                   const redis::resp3::node_view& node,
                                                   error_code&) {
        if (event == redis::any_adapter::parse_event::node)
            reply.record(node);
    });
    const auto slot = asio::get_associated_cancellation_slot(op.handler);
    const auto completes_on = asio::get_associated_executor(op.handler, executor);
    op.connection->async_exec(
        op.request, std::move(adapter),
        asio::bind_cancellation_slot(
            slot, asio::bind_executor(completes_on, [done = std::move(started)](
                                                        error_code failed, std::size_t) mutable {
                complete_write(std::move(done), failed);
            })));
}

} // namespace leasehold::detail
