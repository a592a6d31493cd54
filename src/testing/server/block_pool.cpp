#include "testing/server/block_pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace leasehold::testing::impl {

void* block_pool::reallocate(void* pool, void* block, std::size_t size,
                             std::size_t new_size) noexcept
{
    auto& self = *static_cast<block_pool*>(pool);
    if (block != nullptr && new_size != 0 && size <= largest && new_size <= largest &&
        list_of(size) == list_of(new_size))
        return block;
    void* const moved = new_size == 0 ? nullptr : self.allocate(new_size);
    if (block == nullptr)
        return moved;
    if (moved != nullptr)
        std::memcpy(moved, block, std::min(size, new_size));
    self.release(block, size);
    return moved;
}

void* block_pool::allocate(std::size_t size)
{
    if (size > largest)
        return ::operator new(size);
    free_block*& first = free_[list_of(size)];
    if (first != nullptr) {
        free_block* const found = first;
        first = found->next;
        return found;
    }
    const std::size_t whole = (list_of(size) + 1) * step;
    if (chunk - used_ < whole) {
        chunks_.push_back(std::make_unique<std::byte[]>(chunk));
        used_ = 0;
    }
    void* const made = chunks_.back().get() + used_;
    used_ += whole;
    return made;
}

void block_pool::release(void* block, std::size_t size) noexcept
{
    if (size > largest) {
        ::operator delete(block);
        return;
    }
    free_block*& first = free_[list_of(size)];
    first = new (block) free_block{first};
}

} // namespace leasehold::testing::impl
