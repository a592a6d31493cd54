#ifndef LEASEHOLD_SRC_TESTING_SERVER_KEYSPACE_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_KEYSPACE_HPP

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

/// A command that failed, with the server's text.
struct command_error
{
    std::string text;
};

/// The keys of a simulated server: strings, hashes and lists, with TTLs in the server's
/// milliseconds. Functions that meet a key of another type throw `command_error`. The times of
/// changes are kept, so that the latest changes can be lost.
class keyspace
{
public:
    enum class kind : std::uint8_t
    {
        string,
        hash,
        list,
    };

    using milliseconds = std::int64_t;
    using fields = std::vector<std::pair<std::string, std::string>>; ///< In the order of creation.
    using items = std::vector<std::string>;

    /// The time by which keys expire, and the true time of changes from now on.
    void at(milliseconds now, clock::time_point when) noexcept
    {
        now_ = now;
        when_ = when;
    }

    [[nodiscard]] bool exists(std::string_view key) { return find(key) != nullptr; }
    /// As reported by TYPE.
    [[nodiscard]] const char* type(std::string_view key);
    bool del(std::string_view key);
    /// The number of keys before.
    std::size_t flush_all();

    /// -2: no such key; -1: it does not expire.
    [[nodiscard]] milliseconds pttl(std::string_view key);
    bool pexpire(std::string_view key, milliseconds how_long);
    bool persist(std::string_view key);

    [[nodiscard]] const std::string* get(std::string_view key);
    /// @param how_long 0: forever.
    void set(std::string_view key, std::string_view text, milliseconds how_long);
    /// Keeps the TTL.
    void set_text(std::string_view key, std::string_view text);
    std::int64_t incrby(std::string_view key, std::int64_t by);

    /// Null: no such key.
    [[nodiscard]] const fields* hgetall(std::string_view key);
    [[nodiscard]] const std::string* hget(std::string_view key, std::string_view field);
    /// The same in the fields of a key.
    [[nodiscard]] static const std::string* find_field(const fields* all, std::string_view field);
    [[nodiscard]] std::size_t hlen(std::string_view key);
    /// Whether the field is new.
    bool hset(std::string_view key, std::string_view field, std::string_view text);
    std::int64_t hincrby(std::string_view key, std::string_view field, std::int64_t by);
    bool hdel(std::string_view key, std::string_view field);

    /// Null: no such key.
    [[nodiscard]] const items* list(std::string_view key);
    [[nodiscard]] const std::string* lindex(std::string_view key, std::size_t place);
    /// The length of the list after it.
    std::size_t rpush(std::string_view key, std::string_view text);
    bool lpop(std::string_view key);
    /// Its index, if it is among the first `most` items.
    [[nodiscard]] std::optional<std::size_t> lpos(std::string_view key, std::string_view text,
                                                  std::size_t most);
    /// Removes the first match.
    bool lrem(std::string_view key, std::string_view text);

    /// Calls `f(key, kind, text)` for every key; the text is that of a string.
    template <class F>
    void for_each(F f) const
    {
        for (const auto& [key, each] : values_)
            if (!has_expired(each))
                f(std::string_view(key), each.type, std::string_view(each.text));
    }

    /// Moves a key to another server with another clock, with its remaining TTL.
    /// @return False: the other one has such a key.
    bool move(std::string_view key, keyspace& to);

    /// Reverts the changes since then, and returns their number.
    /// @param keys Not null: changed keys are added.
    std::size_t lose_since(clock::time_point when, std::vector<std::string>* keys = nullptr);

    /// The number of changes so far.
    [[nodiscard]] std::uint64_t changes() const noexcept { return all_changes_; }

private:
    struct value
    {
        kind type = kind::string;
        std::string text;
        fields entries;
        items elements;
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
    value* find(std::string_view key, kind type);
    value& prepare(std::string_view key, kind type);
    void note(std::string_view key, const value* before);

    std::map<std::string, value, std::less<>> values_;
    std::deque<change> changes_;
    std::uint64_t all_changes_ = 0;
    milliseconds now_ = 0;
    clock::time_point when_{};
};

} // namespace leasehold::testing::impl

#endif
