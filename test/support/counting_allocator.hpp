#ifndef LEASEHOLD_TEST_SUPPORT_COUNTING_ALLOCATOR_HPP
#define LEASEHOLD_TEST_SUPPORT_COUNTING_ALLOCATOR_HPP

#include <atomic>
#include <cstddef>
#include <memory>

namespace leasehold::test {

struct allocation_counts
{
    std::atomic<std::size_t> allocations{0};
    std::atomic<std::size_t> live{0};
    std::atomic<std::size_t> bytes{0};
};

/// Allocates like `std::allocator`, and counts. Copies, including those for other types, share
/// their counts.
template <class T = std::byte>
class counting_allocator
{
public:
    using value_type = T;

    counting_allocator() : counts_(std::make_shared<allocation_counts>()) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) noexcept : counts_(other.counts_)
    {}

    T* allocate(std::size_t n)
    {
        T* memory = std::allocator<T>().allocate(n);
        ++counts_->allocations;
        ++counts_->live;
        counts_->bytes += n * sizeof(T);
        return memory;
    }

    void deallocate(T* memory, std::size_t n) noexcept
    {
        --counts_->live;
        counts_->bytes -= n * sizeof(T);
        std::allocator<T>().deallocate(memory, n);
    }

    std::size_t allocations() const noexcept { return counts_->allocations; } ///< So far.
    std::size_t live() const noexcept { return counts_->live; }               ///< Not freed yet.
    std::size_t live_bytes() const noexcept { return counts_->bytes; }

    template <class U>
    bool operator==(const counting_allocator<U>& other) const noexcept
    {
        return counts_ == other.counts_;
    }

private:
    template <class U>
    friend class counting_allocator;

    std::shared_ptr<allocation_counts> counts_;
};

} // namespace leasehold::test

#endif
