// Any bytes as each reply of etcd's gateway, and as names of locks.
#include "fuzz/targets.hpp"

#include "base/base64.hpp"
#include "etcd/protocol/errors.hpp"
#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"
#include "etcd/protocol/replies.hpp"
#include "etcd/protocol/requests.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace leasehold::fuzz {

using namespace etcd_store;

namespace {

std::size_t size_of(const json& value)
{
    std::size_t size = value.text().size();
    for (const json& each : value.elements())
        size += size_of(each);
    return size;
}

std::size_t size_of(const transaction_reply& result)
{
    std::size_t size = 0;
    for (const operation_reply& each : result.operations) {
        for (const key_value& key : each.keys)
            size += key.key.size() + key.value.size();
        size += size_of(each.nested);
    }
    return size;
}

void replies(std::string_view input)
{
    if (const auto read = json::parse(input))
        require(size_of(*read) <= input.size(), "more is read than was sent");
    if (const auto read = read_transaction(input)) {
        require(read->header.at.member != 0, "a reply without a member is read");
        require(size_of(read->result) <= input.size(), "more keys are read than were sent");
    }
    if (const auto read = read_range(input)) {
        for (const key_value& each : read->keys)
            require(!each.key.empty(), "a key without a name is read");
    }
    if (const auto read = read_grant(input))
        require(read->lease != 0, "a lease without a number is read");
    static_cast<void>(read_keep_alive(input));
    static_cast<void>(read_header(input));
    static_cast<void>(read_token(input));
    static_cast<void>(read_watch(input));
    for (const int status : {400, 404, 503}) {
        const server_error error = read_error(status, input);
        require(!text_of(error).empty(), "an error has no text", input);
        require(classify(error).failed(), "an error has no code", input);
    }
}

void texts(std::string_view input)
{
    const auto written = json::parse(json_string(input));
    require(written && written->text() == input, "a text is read with another result", input);
    require(detail::decode_base64(detail::encode_base64(input)) == std::string(input),
            "bytes are read with another result", input);
}

void names(std::string_view input)
{
    const std::string prefix = lock_prefix("root", input);
    for (const char c : prefix)
        require(c > ' ' && c < '\x7f', "a prefix is not printable", prefix);
    const std::string key = owner_key(prefix, "client:1");
    require(lock_of_key("root", key) == std::string(input), "a name is read with another result",
            key);
    require(owner_of_key(key) == "client:1", "an owner is read with another result", key);
    const std::string owner = "c:" + std::string(input);
    require(owner_of_key(owner_key(prefix, owner)) == owner, "an owner is read with another result",
            owner);
    require(!lock_of_key("root", client_key("root", input)), "a client is taken for a lock", input);
    static_cast<void>(lock_of_key("root", input));
    static_cast<void>(owner_of_key(input));
}

} // namespace

void etcd(std::string_view input)
{
    replies(input);
    texts(input);
    names(input);
}

} // namespace leasehold::fuzz
