#include "redis/commands/ended_connections.hpp"

#include <charconv>
#include <utility>

namespace leasehold::redis_store {
namespace {

// A limit of memory: it is reached only if the server was unreachable for a long time.
constexpr std::size_t most_ids = 16;

/// The value of a field in "id=3 addr=127.0.0.1:50232 laddr=…".
std::string_view field(std::string_view info, std::string_view name)
{
    for (std::size_t at = info.find(name); at != std::string_view::npos;
         at = info.find(name, at + 1)) {
        const bool begins = at == 0 || info[at - 1] == ' ' || info[at - 1] == ':';
        const std::size_t value = at + name.size();
        if (begins && value < info.size() && info[value] == '=')
            return info.substr(value + 1, info.find_first_of(" \r\n", value) - value - 1);
    }
    return {};
}

} // namespace

void ended_connections::begin()
{
    if (std::exchange(serves_, false)) {
        served_ = true;
        in_doubt_ = in_doubt_ || !current_;
    }
    if (!current_)
        return;
    if (ended_.size() == most_ids) {
        ended_.erase(ended_.begin());
        in_doubt_ = true;
    }
    ended_.push_back(*std::exchange(current_, std::nullopt));
}

void ended_connections::end(std::size_t number, boost::redis::request& to) const
{
    const identity& each = ended_[number];
    to.push("CLIENT", "KILL", "ID", each.id, "ADDR", each.address);
}

void ended_connections::learn(std::string_view info)
{
    const std::string_view digits = field(info, "id");
    const std::string_view address = field(info, "addr");
    std::int64_t id = 0;
    const auto [last, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    // Over a local socket all connections have the same address: the path, which Valkey 9 writes in
    // brackets, without a port. After a restart, another connection may have the same id.
    const bool distinct = address.find(':') != std::string_view::npos &&
                          address.find('/') == std::string_view::npos && !address.ends_with(":0");
    if (failed == std::errc() && last == digits.data() + digits.size() && distinct)
        current_ = identity{id, std::string(address)};
}

} // namespace leasehold::redis_store
