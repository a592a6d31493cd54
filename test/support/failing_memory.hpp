#ifndef LEASEHOLD_TEST_SUPPORT_FAILING_MEMORY_HPP
#define LEASEHOLD_TEST_SUPPORT_FAILING_MEMORY_HPP

#include <cstddef>

namespace leasehold::test {

/// During its lifetime, one allocation of this program fails: the one with that number, from 1. 0:
/// none. It should exist only while the library runs, so that Boost.Test is not affected. For one
/// thread. failing_memory.cpp replaces the allocation functions of its program.
class failing_memory
{
public:
    explicit failing_memory(std::size_t index) noexcept;
    ~failing_memory();
    failing_memory(const failing_memory&) = delete;
    failing_memory& operator=(const failing_memory&) = delete;

    /// Whether there were that many allocations.
    [[nodiscard]] bool reached() const noexcept { return counted() >= index_; }

    /// The number of allocations since the last object was constructed.
    [[nodiscard]] static std::size_t counted() noexcept;

    /// Whether one exists.
    [[nodiscard]] static bool armed() noexcept;

private:
    std::size_t index_;
};

} // namespace leasehold::test

#endif
