#ifndef LEASEHOLD_SRC_BASE_NAME_MAP_HPP
#define LEASEHOLD_SRC_BASE_NAME_MAP_HPP

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_node_map.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace leasehold::detail {

/// The hash of names, so that a lookup by view makes no string.
struct name_hash
{
    using is_transparent = void;
    using is_avalanching = std::true_type;
    std::size_t operator()(std::string_view name) const noexcept
    {
        return boost::hash<std::string_view>()(name);
    }
};

/// A value for each name; its address is stable while others come and go.
template <class T>
using name_map = boost::unordered_node_map<std::string, T, name_hash, std::equal_to<>>;

} // namespace leasehold::detail

#endif
