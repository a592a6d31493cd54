#ifndef LEASEHOLD_SRC_TESTING_SERVER_BLOCK_POOL_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_BLOCK_POOL_HPP

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace leasehold::testing::impl {

/// The memory of an interpreter, which allocates and frees many small blocks: a freed block waits
/// for the next of its size. This and the other savings keep the simulator fast.
class block_pool
{
public:
    block_pool() = default;
    block_pool(const block_pool&) = delete;
    block_pool& operator=(const block_pool&) = delete;

    /// A `lua_Alloc`. Does not return if there is no memory, because Lua would raise an error then.
    /// @param pool The pool.
    static void* reallocate(void* pool, void* block, std::size_t size,
                            std::size_t new_size) noexcept;

private:
    struct free_block
    {
        free_block* next;
    };

    static constexpr std::size_t step = 16;
    static constexpr std::size_t largest = 256; ///< Of a small block.
    static constexpr std::size_t chunk = 16'384;

    [[nodiscard]] static std::size_t list_of(std::size_t size) noexcept
    {
        return (size - 1) / step;
    }
    void* allocate(std::size_t size);
    void release(void* block, std::size_t size) noexcept;

    std::array<free_block*, largest / step> free_{};
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::size_t used_ = chunk; ///< Of the last chunk.
};

} // namespace leasehold::testing::impl

#endif
