#ifndef LEASEHOLD_SRC_TESTING_KEYSPACE_HPP
#define LEASEHOLD_SRC_TESTING_KEYSPACE_HPP

#include <leasehold/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {

/// A command that failed, in the server's words.
struct command_error
{
    std::string text;
};

/// The keys of a simulated server: hashes and strings, with times to live in the server's
/// milliseconds. Functions that meet a key of the other type throw `command_error`. What was
/// changed when is kept, so that the latest changes can be lost.
class keyspace
{
public:
    using milliseconds = std::int64_t;
    using fields =
        std::vector<std::pair<std::string, std::string>>; ///< In the order of their making.

    /// The time by which keys expire, and the true time of changes from here on.
    void at(milliseconds now, clock::time_point when) noexcept
    {
        now_ = now;
        when_ = when;
    }

    [[nodiscard]] bool exists(std::string_view key) { return find(key) != nullptr; }
    bool del(std::string_view key);
    /// How many keys there were.
    std::size_t flush_all();

    /// -2: no such key; -1: it does not expire.
    [[nodiscard]] milliseconds pttl(std::string_view key);
    bool pexpire(std::string_view key, milliseconds how_long);
    bool persist(std::string_view key);

    [[nodiscard]] const std::string* get(std::string_view key);
    /// @param how_long 0: for ever.
    void set(std::string_view key, std::string_view text, milliseconds how_long);

    /// Null: no such key.
    [[nodiscard]] const fields* hgetall(std::string_view key);
    [[nodiscard]] const std::string* hget(std::string_view key, std::string_view field);
    [[nodiscard]] std::size_t hlen(std::string_view key);
    /// How many fields are new.
    bool hset(std::string_view key, std::string_view field, std::string_view text);
    bool hsetnx(std::string_view key, std::string_view field, std::string_view text);
    std::int64_t hincrby(std::string_view key, std::string_view field, std::int64_t by);
    bool hdel(std::string_view key, std::string_view field);

    /// How many keys are hashes. Looks at every key.
    [[nodiscard]] std::size_t hashes() const noexcept;

    /// Takes back what was changed since then. How many changes that were.
    std::size_t lose_since(clock::time_point when);

private:
    struct value
    {
        bool is_hash = false;
        std::string text;
        fields entries;
        milliseconds expires = never;
    };

    struct change
    {
        clock::time_point when;
        std::string key;
        std::optional<value> before;
    };

    static constexpr milliseconds never = -1;

    [[nodiscard]] bool has_expired(const value& of) const noexcept
    {
        return of.expires != never && now_ > of.expires;
    }
    value* find(std::string_view key);
    value* find_hash(std::string_view key);
    value& change_hash(std::string_view key);
    void note(std::string_view key, const value* before);

    std::map<std::string, value, std::less<>> values_;
    std::deque<change> changes_;
    milliseconds now_ = 0;
    clock::time_point when_{};
};

} // namespace leasehold::testing::impl

#endif
