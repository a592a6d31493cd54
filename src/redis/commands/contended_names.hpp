#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_CONTENDED_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_CONTENDED_NAMES_HPP

#include <leasehold/store.hpp>

#include <boost/container_hash/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// The recently contended names. For these the slow path saves a round trip, because the fast path
/// would probably fail first.
///
/// Its size is fixed, so it may forget a name or mistake one for another. An error costs one round
/// trip and has no other effect. Allocates when the first name is noted.
class contended_names
{
public:
    /// The hash of a name; never 0.
    using key = std::uint32_t;

    [[nodiscard]] static key key_of(std::string_view name)
    {
        const std::size_t hash = boost::hash<std::string_view>()(name);
        return static_cast<key>(hash ^ (hash >> 32)) | 1; // 0 means unused
    }

    [[nodiscard]] bool contains(key name) const noexcept
    {
        return !places_.empty() && places_[name % size] == name;
    }

    /// Records whether the last answer showed contention.
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
    static constexpr std::size_t size = 509; // a prime, because keys are odd

    std::vector<key> places_;
};

/// Whether the fast path can serve the release.
[[nodiscard]] inline bool is_plain(const release_request& request, const contended_names& contended)
{
    return request.next == nullptr && request.entry.empty() && request.external_time.count() == 0 &&
           !contended.contains(contended_names::key_of(request.name));
}

} // namespace leasehold::redis_store

#endif
