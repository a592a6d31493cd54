#include "model/state_set.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace leasehold::test::model {
namespace {

constexpr std::uint64_t tag_bits = 0xffffffff00000000U;

} // namespace

state_set::state_set() : table_(std::size_t{1} << 12) {}

state_set::packed state_set::pack(const state& s) noexcept
{
    std::array<unsigned char, words * 8> raw{};
    std::memcpy(raw.data(), &s, sizeof s);
    packed out;
    unsigned char* masks = out.bytes.data();
    unsigned char* next = masks + words;
    for (std::size_t w = 0; w < words; ++w) {
        unsigned mask = 0;
        for (unsigned b = 0; b < 8; ++b) {
            const unsigned char each = raw[w * 8 + b];
            const bool set = each != 0;
            *next = each;
            next += set ? 1 : 0;
            mask |= (set ? 1U : 0U) << b;
        }
        masks[w] = static_cast<unsigned char>(mask);
    }
    out.size = static_cast<std::size_t>(next - masks);
    while (out.size % grain != 0)
        out.bytes[out.size++] = 0;
    return out;
}

std::size_t state_set::packed_size(const unsigned char* bytes) noexcept
{
    std::size_t size = words;
    for (std::size_t w = 0; w < words; ++w)
        size += static_cast<std::size_t>(std::popcount(bytes[w]));
    return (size + grain - 1) / grain * grain;
}

std::uint64_t state_set::hash(const unsigned char* bytes, std::size_t size) noexcept
{
    std::uint64_t h = size;
    for (std::size_t i = 0; i < size; i += grain) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes + i, grain);
        h = (h ^ word) * 0x9e3779b97f4a7c15U;
        h ^= h >> 32;
    }
    h *= 0xbf58476d1ce4e5b9U;
    return h ^ h >> 31;
}

const unsigned char* state_set::at(index i) const noexcept
{
    const std::size_t place = places_[i] * grain;
    return blocks_[place / block_size].get() + place % block_size;
}

std::uint32_t state_set::store(const packed& p)
{
    if (block_size - used_ < p.size) {
        blocks_.push_back(std::make_unique<unsigned char[]>(block_size));
        used_ = 0;
    }
    const std::size_t place = (blocks_.size() - 1) * block_size + used_;
    std::memcpy(blocks_.back().get() + used_, p.bytes.data(), p.size);
    used_ += p.size;
    return static_cast<std::uint32_t>(place / grain);
}

std::pair<state_set::index, bool> state_set::insert(const state& s)
{
    if ((std::size_t{size()} + 1) * 3 > table_.size() * 2)
        grow();
    const packed p = pack(s);
    const std::uint64_t h = hash(p.bytes.data(), p.size);
    const std::size_t mask = table_.size() - 1;
    for (std::size_t slot = h & mask;; slot = (slot + 1) & mask) {
        const std::uint64_t entry = table_[slot];
        if (entry == 0) {
            places_.push_back(store(p));
            table_[slot] = (h & tag_bits) | size();
            return {size() - 1, true};
        }
        if (((entry ^ h) & tag_bits) != 0)
            continue;
        const auto i = static_cast<index>(entry - 1);
        // A shorter one cannot be equal: its masks differ.
        if (std::memcmp(at(i), p.bytes.data(), std::min(p.size, packed_size(at(i)))) == 0)
            return {i, false};
    }
}

state state_set::operator[](index i) const noexcept
{
    const unsigned char* masks = at(i);
    const unsigned char* next = masks + words;
    std::array<unsigned char, words * 8> raw{};
    for (std::size_t w = 0; w < words; ++w)
        for (unsigned mask = masks[w]; mask != 0; mask &= mask - 1)
            raw[w * 8 + static_cast<std::size_t>(std::countr_zero(mask))] = *next++;
    state out;
    std::memcpy(static_cast<void*>(&out), raw.data(), sizeof out);
    return out;
}

void state_set::grow()
{
    std::vector<std::uint64_t> larger(table_.size() * 2);
    table_ = {}; // its content can be found again
    const std::size_t mask = larger.size() - 1;
    for (index i = 0; i < size(); ++i) {
        const std::uint64_t h = hash(at(i), packed_size(at(i)));
        std::size_t slot = h & mask;
        while (larger[slot] != 0)
            slot = (slot + 1) & mask;
        larger[slot] = (h & tag_bits) | (i + std::uint64_t{1});
    }
    table_ = std::move(larger);
}

std::size_t state_set::memory() const noexcept
{
    return blocks_.size() * block_size + places_.capacity() * sizeof places_[0] +
           table_.capacity() * sizeof table_[0];
}

} // namespace leasehold::test::model
