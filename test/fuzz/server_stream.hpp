#ifndef LEASEHOLD_TEST_FUZZ_SERVER_STREAM_HPP
#define LEASEHOLD_TEST_FUZZ_SERVER_STREAM_HPP

#include "redis/connection/resp3_guard.hpp"

#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::fuzz {

/// One message as the parser of Boost.Redis reads it.
using message = std::vector<boost::redis::resp3::node>;

/// The bytes of a server, read as the connections of the library read them: piece by piece, through
/// the guard, with pushes among the replies.
class server_stream
{
public:
    enum class result
    {
        nothing, ///< No complete message.
        answer,
        pushed,
        broken, ///< The stream closes the connection.
    };

    void add(std::string_view bytes) { buffer_ += bytes.substr(0, guard_.accept(bytes)); }

    /// Reads one message. `to` waits for a reply, or is null: then all messages are pushes.
    result read(boost::redis::any_adapter* to, boost::redis::any_adapter& push_inbox);

    /// The message that was read last.
    [[nodiscard]] const message& last() const noexcept { return last_; }

private:
    redis_store::resp3_guard guard_;
    std::string buffer_;
    boost::redis::resp3::parser parser_;
    bool begun_ = false;
    bool is_push_ = false;
    message last_;
};

} // namespace leasehold::fuzz

#endif
