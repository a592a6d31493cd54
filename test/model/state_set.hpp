#ifndef LEASEHOLD_TEST_MODEL_STATE_SET_HPP
#define LEASEHOLD_TEST_MODEL_STATE_SET_HPP

#include "model/state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace leasehold::test::model {

/// States, numbered in the order of insertion. Only bytes that are not zero are stored.
class state_set
{
public:
    using index = std::uint32_t;

    state_set();

    /// The number of the state, and whether it is new.
    std::pair<index, bool> insert(const state& s);
    [[nodiscard]] state operator[](index i) const noexcept;
    [[nodiscard]] index size() const noexcept { return static_cast<index>(places_.size()); }
    /// The size in bytes.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    static constexpr std::size_t words = (sizeof(state) + 7) / 8;
    static constexpr std::size_t grain = 4;
    static constexpr std::size_t block_size = std::size_t{1} << 22;

    /// For each word, a mask of its bytes that are not zero, and then these bytes. Padded to the
    /// grain.
    struct packed
    {
        std::array<unsigned char, words * 9 + grain> bytes;
        std::size_t size;
    };
    static packed pack(const state& s) noexcept;
    static std::uint64_t hash(const unsigned char* bytes, std::size_t size) noexcept;
    static std::size_t packed_size(const unsigned char* bytes) noexcept;

    const unsigned char* at(index i) const noexcept;
    std::uint32_t store(const packed& p);
    void grow();

    std::vector<std::unique_ptr<unsigned char[]>> blocks_;
    std::size_t used_ = block_size;     ///< The used part of the last block.
    std::vector<std::uint32_t> places_; ///< In units of the grain.
    /// Open addressing. A slot holds the number + 1 and some bits of the hash, or 0: empty.
    std::vector<std::uint64_t> table_;
};

} // namespace leasehold::test::model

#endif
