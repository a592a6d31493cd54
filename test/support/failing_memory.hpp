#ifndef LEASEHOLD_TEST_SUPPORT_FAILING_MEMORY_HPP
#define LEASEHOLD_TEST_SUPPORT_FAILING_MEMORY_HPP

#include <cstddef>

namespace leasehold::test {

/// While it lives, one allocation of this program fails: the one with that number, from 1; 0: none.
/// It should live only while the library runs, so that Boost.Test does not notice. For one thread.
/// failing_memory.cpp replaces the allocation functions of the program that it is a part of.
class failing_memory
{
public:
    explicit failing_memory(std::size_t index) noexcept;
    ~failing_memory();
    failing_memory(const failing_memory&) = delete;
    failing_memory& operator=(const failing_memory&) = delete;

    /// Whether there were that many allocations.
    [[nodiscard]] bool reached() const noexcept { return counted() >= index_; }

    /// The number of allocations since the last of these began.
    [[nodiscard]] static std::size_t counted() noexcept;

    /// Whether one exists.
    [[nodiscard]] static bool armed() noexcept;

private:
    std::size_t index_;
};

} // namespace leasehold::test

#endif
