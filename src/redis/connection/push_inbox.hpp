#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_PUSH_INBOX_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_PUSH_INBOX_HPP

#include <boost/redis/adapter/any_adapter.hpp>

#include <string>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// Messages that a server sends without a request, until they are taken: push messages, and errors
/// that answer no command.
class push_inbox
{
public:
    using words = std::vector<std::string>;

    /// Collects into this object, which must outlive the adapter.
    boost::redis::any_adapter adapter();

    /// The messages, each as its words, without the layers around them.
    std::vector<words> take() { return std::exchange(messages_, {}); }
    std::vector<std::string> take_errors() { return std::exchange(errors_, {}); }

    void clear() noexcept
    {
        messages_.clear();
        errors_.clear();
    }

private:
    std::vector<words> messages_;
    std::vector<std::string> errors_;
    words current_;
};

} // namespace leasehold::redis_store

#endif
