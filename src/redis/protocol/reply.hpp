#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_REPLY_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_REPLY_HPP

#include <leasehold/error.hpp>

#include <boost/container/small_vector.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// What the server answered to one command: a list of whole numbers or one, a text, nothing, or an
/// error.
struct reply
{
    boost::container::small_vector<std::int64_t, 5> numbers;
    std::optional<std::string> text;
    std::string error; ///< The server's text; empty: no error.
    bool odd = false;  ///< It is, or holds, something else.

    void record(const boost::redis::resp3::node_view& node);
    bool is(std::size_t count) const noexcept
    {
        return error.empty() && !odd && numbers.size() == count;
    }
};

/// What an error text of the server means, in terms of `store`. Where trying again cannot help
/// (no such command, no right to it, no such database, a cluster), it is a
/// `condition::bad_request`.
/// A script that failed for a reason not known here may have run in part: `errc::outcome_unknown`.
errc classify(std::string_view text);

/// True for the answer to the hash of a script that the server does not have.
bool is_script_missing(std::string_view text);

/// What a server said, within a text of other words, such as a log message: from the first code
/// that is known here to the end of that line. Empty: nothing.
std::string_view find_words(std::string_view text);

/// True for the answer of a server that serves nothing for now: it loads its data, runs a long
/// script, or has lost its master.
bool is_not_serving(std::string_view text);

/// True for the answer of a server that was a master and is none any more.
bool is_read_only(std::string_view text);

/// True for the answer of a server that takes nothing new for now: it has no memory, cannot save,
/// or has too few replicas. Other requests may be served.
bool is_without_room(std::string_view text);

} // namespace leasehold::redis_store

#endif
