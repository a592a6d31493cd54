#ifndef LEASEHOLD_SRC_TESTING_SERVER_REPLY_SINK_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_REPLY_SINK_HPP

#include "testing/server/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {

/// Receives the reply to a command: a message to a client, or a value on the stack of a script.
class reply_sink
{
public:
    virtual void number(std::int64_t value) = 0;
    virtual void text(std::string_view value) = 0;
    virtual void null() = 0;
    virtual void status(std::string_view value) = 0;
    /// Replaces the reply so far.
    virtual void error(std::string_view value) = 0;
    /// An array or a map, whose elements are pairs. The elements follow; they have none of their
    /// own.
    virtual void begin(message::type of, std::size_t elements) = 0;

    void text_or_null(const std::string* value)
    {
        if (value == nullptr)
            null();
        else
            text(*value);
    }

protected:
    ~reply_sink() = default;
};

/// The reply to a client.
class message_sink final : public reply_sink
{
public:
    void number(std::int64_t value) override { add(message::type::number, std::to_string(value)); }
    void text(std::string_view value) override { add(message::type::blob_string, value); }
    void null() override { add(message::type::null, {}); }
    void status(std::string_view value) override { add(message::type::simple_string, value); }
    void error(std::string_view value) override { built = message::error(value); }
    void begin(message::type of, std::size_t elements) override
    {
        built.begin(of, elements);
        depth_ = 1;
    }

    message built;

private:
    void add(message::type of, std::string_view value) { built.add(of, value, depth_); }

    std::size_t depth_ = 0;
};

} // namespace leasehold::testing::impl

#endif
