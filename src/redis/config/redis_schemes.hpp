#ifndef LEASEHOLD_SRC_REDIS_CONFIG_REDIS_SCHEMES_HPP
#define LEASEHOLD_SRC_REDIS_CONFIG_REDIS_SCHEMES_HPP

#include <array>
#include <string_view>

namespace leasehold::redis_store {

/// The schemes of URLs of a Redis store.
inline constexpr std::array<std::string_view, 15> schemes{"redis",
                                                          "rediss",
                                                          "unix",
                                                          "redis+sentinel",
                                                          "rediss+sentinel",
                                                          "redis+cluster",
                                                          "rediss+cluster",
                                                          "redlock",
                                                          "rediss+redlock",
                                                          "valkey",
                                                          "valkeys",
                                                          "valkey+sentinel",
                                                          "valkeys+sentinel",
                                                          "valkey+cluster",
                                                          "valkeys+cluster"};

} // namespace leasehold::redis_store

#endif
