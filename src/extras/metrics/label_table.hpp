#ifndef LEASEHOLD_SRC_EXTRAS_METRICS_LABEL_TABLE_HPP
#define LEASEHOLD_SRC_EXTRAS_METRICS_LABEL_TABLE_HPP

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::detail {

/// A `T` for each value of a label, up to a number of values; all others share one, `other`. A
/// known value is found without a lock. The result for a value, including `other`, never changes: a
/// gauge goes down where it went up.
template <class T>
class label_table
{
public:
    static constexpr std::string_view other = "other";

    /// @param make Makes a `T`, from any thread.
    label_table(std::size_t most, std::function<std::unique_ptr<T>()> make)
        : most_(most), make_(std::move(make)), other_(make_()), slots_(std::bit_ceil(2 * most + 1))
    {}

    label_table(const label_table&) = delete;
    label_table& operator=(const label_table&) = delete;

    ~label_table()
    {
        for (const auto& each : slots_)
            delete each.load();
    }

    [[nodiscard]] T& at(std::string_view label) noexcept
    {
        if (label == other)
            return others();
        if (const entry* const found = find(label))
            return *found->value;
        if (full_.load(std::memory_order_acquire)) {
            // The table is full, so this second search sees all entries.
            const entry* const found = find(label);
            return found != nullptr ? *found->value : others();
        }
        return insert(label);
    }

    /// Calls `f(label, value)` for each requested label, `other` last.
    template <class F>
    void each(F f) const
    {
        for (const entry* const one : in_order())
            f(std::string_view(one->label), *one->value);
        if (other_used_.load(std::memory_order_relaxed))
            f(other, *other_);
    }

private:
    struct entry
    {
        std::string label;
        std::unique_ptr<T> value;
    };

    using slot = std::atomic<const entry*>;

    [[nodiscard]] std::vector<const entry*> in_order() const
    {
        std::vector<const entry*> all;
        for (const slot& each : slots_)
            if (const entry* const one = each.load(std::memory_order_acquire))
                all.push_back(one);
        std::sort(all.begin(), all.end(),
                  [](const entry* a, const entry* b) { return a->label < b->label; });
        return all;
    }

    /// The slot of the label, or the free one for it. At least half of the slots are free.
    template <class Slots>
    [[nodiscard]] static auto& place(Slots& slots, std::string_view label) noexcept
    {
        auto i = std::hash<std::string_view>()(label) & (slots.size() - 1);
        for (;; i = (i + 1) & (slots.size() - 1)) {
            const entry* const one = slots[i].load(std::memory_order_acquire);
            if (one == nullptr || one->label == label)
                return slots[i];
        }
    }

    [[nodiscard]] const entry* find(std::string_view label) const noexcept
    {
        return place(slots_, label).load(std::memory_order_acquire);
    }

    [[nodiscard]] T& insert(std::string_view label) noexcept
    {
        try {
            const std::lock_guard lock(inserting_);
            slot& free = place(slots_, label);
            if (const entry* const found = free.load(std::memory_order_relaxed))
                return *found->value;
            if (!full_.load(std::memory_order_relaxed)) {
                auto made = std::make_unique<entry>(entry{std::string(label), make_()});
                T& value = *made->value;
                free.store(made.release(), std::memory_order_release);
                if (++count_ == most_)
                    full_.store(true, std::memory_order_release);
                return value;
            }
        }
        catch (const std::exception&) {
            full_.store(true, std::memory_order_release); // no memory, and none is requested again
        }
        return others();
    }

    [[nodiscard]] T& others() noexcept
    {
        other_used_.store(true, std::memory_order_relaxed);
        return *other_;
    }

    const std::size_t most_;
    const std::function<std::unique_ptr<T>()> make_;
    const std::unique_ptr<T> other_;
    std::atomic<bool> other_used_ = false;
    std::vector<slot> slots_;
    std::atomic<bool> full_ = false;
    std::mutex inserting_;
    std::size_t count_ = 0;
};

} // namespace leasehold::detail

#endif
