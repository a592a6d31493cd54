#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_REPLY_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_REPLY_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/container/small_vector.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// The server's reply to one command: a whole number or a list of them, a text, nothing, or an
/// error.
struct reply
{
    boost::container::small_vector<std::int64_t, 5> numbers;
    std::optional<std::string> text;
    std::string error; ///< The server's text. Empty: no error.
    bool odd = false;  ///< It is, or contains, something else.

    void record(const boost::redis::resp3::node_view& node);
    bool is(std::size_t count) const noexcept
    {
        return error.empty() && !odd && numbers.size() == count;
    }
};

/// The meaning of an error text of the server, in terms of `store`. If a retry cannot help (no such
/// command, no right to it, no such database, a cluster), it is a `condition::bad_request`. A
/// script that failed for an unknown reason may have been executed in part:
/// `errc::outcome_unknown`.
errc classify(std::string_view text);

/// Whether it is the reply to the hash of a script that the server does not have.
bool is_script_missing(std::string_view text);

/// The server's text within other words, such as a log message: from the first known code to the
/// end of that line. Empty: none.
std::string_view find_words(std::string_view text);

/// Whether it is the reply of a server that serves nothing for now: it loads its data, runs a long
/// script, or has lost its master.
bool is_not_serving(std::string_view text);

/// Whether it is the reply of a server that rejects the user or the password, or requires them.
bool is_login_rejected(std::string_view text);

/// The text of a server, or of a proxy before it, that rejects HELLO because it does not support
/// RESP3, with this reason. Without the arguments of HELLO, because servers before Redis 6 repeat
/// them, and one is the password. Empty: `text` is another error.
LEASEHOLD_REDIS_EXPORT std::string hello_rejection(std::string_view text);

/// Whether it is the reply of a server that was a master and is not any more.
bool is_read_only(std::string_view text);

/// Whether it is the reply of a server that accepts no writes for now: it has no memory, cannot
/// save, or has too few replicas. Other requests may be served.
bool is_without_room(std::string_view text);

} // namespace leasehold::redis_store

#endif
