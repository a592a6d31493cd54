#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRER_POOL_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRER_POOL_HPP

#include <cstddef>
#include <new>
#include <utility>

namespace leasehold::detail {

/// The memory of a client's acquirers, all of one size. Each lock that is taken needs one for as
/// long as its request is under way; what many at once have used is kept for the next.
class acquirer_pool
{
public:
    acquirer_pool() = default;
    acquirer_pool(const acquirer_pool&) = delete;
    acquirer_pool& operator=(const acquirer_pool&) = delete;

    ~acquirer_pool()
    {
        while (first_ != nullptr)
            ::operator delete(std::exchange(first_, first_->next));
    }

    [[nodiscard]] void* take(std::size_t size)
    {
        if (first_ == nullptr)
            return ::operator new(size);
        --kept_;
        return std::exchange(first_, first_->next);
    }

    void give_back(void* memory) noexcept
    {
        if (kept_ == most)
            return ::operator delete(memory);
        ++kept_;
        first_ = new (memory) block{first_};
    }

private:
    struct block
    {
        block* next;
    };

    /// As many requests as are under way at once, usually (`acquire_window::usual_limit`).
    static constexpr std::size_t most = 1'000;

    block* first_ = nullptr;
    std::size_t kept_ = 0;
};

} // namespace leasehold::detail

#endif
