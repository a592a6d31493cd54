#ifndef LEASEHOLD_SRC_ETCD_STORE_CONTENDER_HPP
#define LEASEHOLD_SRC_ETCD_STORE_CONTENDER_HPP

#include "base/revision_fences.hpp"
#include "etcd/protocol/key_names.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::etcd_store {

/// An owner of this session, with its key.
struct contender
{
    contender(std::string_view lock, std::string_view id, std::string beginning)
        : name(lock), owner(id), prefix(std::move(beginning)), key(owner_key(prefix, owner))
    {}

    std::string name; ///< Of the lock.
    std::string owner;
    std::string prefix; ///< Of the keys of the lock.
    std::string key;
    std::uint64_t created = 0;         ///< The revision that has created the key. 0: unknown.
    std::uint32_t used = 0;            ///< Fences that were given.
    std::int64_t before_watch = 0;     ///< The watch of the key before its own. 0: none.
    std::string before_key;            ///< With that watch: the key.
    std::int64_t own_watch = 0;        ///< The watch of its key. 0: none.
    std::set<std::string> entries{""}; ///< The acquisition, with an empty name, and its reentrant
                                       ///< ones.
    bool holds = false;                ///< Its key was seen as the first.
    bool doubtful = false; ///< A request without a reply may have created or removed the key.
    bool leaving = false;  ///< The removal is outstanding.
};

} // namespace leasehold::etcd_store

#endif
