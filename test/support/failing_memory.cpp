#include "support/failing_memory.hpp"

#include <cstdlib>
#include <new>

namespace {

bool is_armed = false;
std::size_t count = 0;
std::size_t fails_at = 0;

bool fails() noexcept
{
    return is_armed && ++count == fails_at;
}

} // namespace

namespace leasehold::test {

failing_memory::failing_memory(std::size_t index) noexcept : index_(index)
{
    count = 0;
    fails_at = index;
    is_armed = true;
}

failing_memory::~failing_memory()
{
    is_armed = false;
}

std::size_t failing_memory::counted() noexcept
{
    return count;
}

bool failing_memory::armed() noexcept
{
    return is_armed;
}

} // namespace leasehold::test

void* operator new(std::size_t size)
{
    void* const memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept
{
    return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept
{
    std::free(memory);
}

// Asio allocates with this function.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size)
{
    void* memory = nullptr;
    if (fails() || ::posix_memalign(&memory, alignment, size) != 0)
        return nullptr;
    return memory;
}
