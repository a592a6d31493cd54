#ifndef LEASEHOLD_SRC_TESTING_SERVER_SEGMENT_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_SEGMENT_HPP

#include "testing/server/lock_request.hpp"
#include "testing/server/verbs.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/testing/host.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// Commands that a client writes in one piece.
class segment : public boost::intrusive_ref_counter<segment, boost::thread_unsafe_counter>
{
public:
    /// @param bytes Commands in RESP, whole ones.
    /// @param when True time.
    segment(std::string bytes, clock::time_point when);

    [[nodiscard]] std::size_t size() const noexcept { return commands_.size(); }
    [[nodiscard]] words command(std::size_t index) const noexcept
    {
        return words(words_).subspan(commands_[index].begin, commands_[index].count);
    }
    /// Null: it is none.
    [[nodiscard]] const lock_request* request(std::size_t index) const noexcept
    {
        const auto& request = commands_[index].request;
        return request ? &*request : nullptr;
    }
    /// The server is busy before it runs the next one.
    [[nodiscard]] bool takes_time(std::size_t index) const noexcept
    {
        return commands_[index].request || fences_drawn_by(command(index)) != 0;
    }

    const clock::time_point sent;
    std::size_t answered = 0; ///< The number of replies that its sender has received.

private:
    struct command_words
    {
        std::size_t begin;
        std::size_t count;
        std::optional<lock_request> request;
    };

    const std::string bytes_;
    std::vector<std::string_view> words_;
    std::vector<command_words> commands_;
};

using segment_ptr = boost::intrusive_ptr<segment>;

// The three steps of a request.
[[nodiscard]] constexpr step sent_step(lock_request::kind what) noexcept
{
    return static_cast<step>(3 * static_cast<int>(what));
}
[[nodiscard]] constexpr step ran_step(lock_request::kind what) noexcept
{
    return static_cast<step>(3 * static_cast<int>(what) + 1);
}
[[nodiscard]] constexpr step answered_step(lock_request::kind what) noexcept
{
    return static_cast<step>(3 * static_cast<int>(what) + 2);
}

} // namespace leasehold::testing::impl

#endif
