#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_CONTENDED_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_CONTENDED_NAMES_HPP

#include <boost/container_hash/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// The names on which this client has met others lately. For these the long way is the shorter one.
///
/// Its size is fixed, so it may forget a name, and take one for another: what it says is worth a
/// round trip, and nothing depends on it. Takes memory with the first name.
class contended_names
{
public:
    /// What a name is known by.
    using key = std::uint32_t;

    [[nodiscard]] static key key_of(std::string_view name)
    {
        const std::size_t hash = boost::hash<std::string_view>()(name);
        return static_cast<key>(hash ^ (hash >> 32)) | 1; // 0 stands for an empty place
    }

    [[nodiscard]] bool contains(key name) const noexcept
    {
        return !places_.empty() && places_[name % size] == name;
    }

    /// Says what the last answer showed.
    void note(key name, bool contended)
    {
        if (contended) {
            places_.resize(size);
            places_[name % size] = name;
        }
        else if (contains(name)) {
            places_[name % size] = 0;
        }
    }

private:
    static constexpr std::size_t size = 509; // a prime: keys are odd

    std::vector<key> places_;
};

} // namespace leasehold::redis_store

#endif
