#include "sql/protocol/replies.hpp"

#include "base/server_clock.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::sql_store {
namespace {

// The columns of the functions `acquire` and `release`.
enum acquire_column : std::size_t
{
    acquire_result,
    acquire_fence,
    acquire_fences,
    acquire_remaining,
    acquire_place,
    acquire_holder,
    acquire_clock,
    acquire_columns
};
enum release_column : std::size_t
{
    release_result,
    next_result,
    next_fence,
    next_fences,
    next_remaining,
    next_place,
    release_clock,
    release_columns
};

void set_granted(acquire_reply& reply, std::int64_t last, std::int64_t count) noexcept
{
    reply.result = acquire_reply::outcome::granted;
    reply.fences = static_cast<std::uint32_t>(count);
    if (count > 0)
        reply.first_fence = static_cast<std::uint64_t>(last - count + 1);
}

void set_held(acquire_reply& reply, std::int64_t remaining, std::int64_t place,
              bool listening) noexcept
{
    reply.result = acquire_reply::outcome::held;
    reply.remaining = std::chrono::milliseconds(remaining);
    reply.queued = place >= 0;
    reply.position = place >= 0 ? static_cast<std::uint32_t>(place) : 0;
    reply.may_miss_grant = reply.queued && !listening;
}

bool is_row(const rows& from, std::size_t columns, std::size_t clock)
{
    return from.size() == 1 && from.columns() == columns &&
           detail::is_server_time(from.number(0, clock));
}

/// The holder for `acquire_reply::details`. `holder` is the id of its client.
std::shared_ptr<const diagnostics> details_of(std::string_view holder)
{
    auto details = std::make_shared<diagnostics>();
    details->holder = holder_name(std::string(holder) + ":0");
    return details->holder.empty() ? nullptr : details;
}

} // namespace

std::optional<timed<acquire_reply>> read_acquire(const rows& from, bool listening)
{
    if (!is_row(from, acquire_columns, acquire_clock))
        return std::nullopt;
    const row_reader row(from, 0);
    timed<acquire_reply> read;
    read.server_us = row.number(acquire_clock);
    switch (row.number(acquire_result)) {
    case 1: set_granted(read.reply, row.number(acquire_fence), row.number(acquire_fences)); break;
    case 0:
        set_held(read.reply, row.number(acquire_remaining), row.number(acquire_place), listening);
        if (!row.is_null(acquire_holder))
            read.reply.details = details_of(row.bytes(acquire_holder));
        break;
    case -1: read.reply.result = acquire_reply::outcome::late; break;
    case -2: read.reply.result = acquire_reply::outcome::gone; break;
    default: return std::nullopt;
    }
    return read;
}

std::optional<timed<release_reply>> read_release(const rows& from, bool listening)
{
    if (!is_row(from, release_columns, release_clock))
        return std::nullopt;
    const row_reader row(from, 0);
    timed<release_reply> read;
    read.server_us = row.number(release_clock);
    switch (row.number(release_result)) {
    case 0: read.reply.result = release_reply::outcome::not_owner; break;
    case 1: read.reply.result = release_reply::outcome::freed; break;
    case 2: read.reply.result = release_reply::outcome::still_held; break;
    case 3: read.reply.result = release_reply::outcome::left_queue; break;
    case 4: read.reply.result = release_reply::outcome::granted_next; break;
    default: return std::nullopt;
    }
    if (!row.is_null(next_result)) {
        acquire_reply& next = read.reply.next.emplace();
        if (row.number(next_result) == 1)
            set_granted(next, row.number(next_fence), row.number(next_fences));
        else
            set_held(next, row.number(next_remaining), row.number(next_place), listening);
    }
    return read;
}

std::optional<renew_reply> read_renew(const rows& from, std::size_t size)
{
    if (from.columns() != 1)
        return std::nullopt;
    const bool has_rows = from.size() == size;
    const std::string_view digits = from.size() == 1 ? from.bytes(0, 0) : std::string_view();
    if (!has_rows && digits.size() != size)
        return std::nullopt;
    std::vector<renewal_result> results;
    results.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        const bool renewed = has_rows ? from.number(i, 0) != 0 : digits[i] == '1';
        results.push_back(renewed ? renewal_result::renewed : renewal_result::gone);
    }
    return renew_reply(std::move(results));
}

} // namespace leasehold::sql_store
