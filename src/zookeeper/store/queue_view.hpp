#ifndef LEASEHOLD_SRC_ZOOKEEPER_STORE_QUEUE_VIEW_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_STORE_QUEUE_VIEW_HPP

#include "zookeeper/protocol/node_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::zookeeper_store {

/// The children of a lock at one time, in the order of their numbers: first the holder, then the
/// waiters. Children with the same number are of one owner.
class queue_view
{
public:
    struct child
    {
        std::int32_t number;
        std::string name;
    };

    queue_view() = default;
    explicit queue_view(std::vector<std::string> names)
    {
        for (std::string& each : names) {
            if (const auto number = number_of_child(each))
                children_.push_back({*number, std::move(each)});
        }
        std::sort(children_.begin(), children_.end(), [](const child& a, const child& b) {
            return a.number == b.number ? a.name < b.name : is_before(a.number, b.number);
        });
    }

    [[nodiscard]] const std::vector<child>& children() const noexcept { return children_; }
    [[nodiscard]] bool empty() const noexcept { return children_.empty(); }
    [[nodiscard]] const child& first() const noexcept { return children_.front(); }

    [[nodiscard]] bool contains(std::string_view name) const noexcept
    {
        return std::any_of(children_.begin(), children_.end(),
                           [&](const child& each) { return each.name == name; });
    }

    /// The child that has this prefix and only its number after it; the first of them. Null: none.
    [[nodiscard]] const child* find(std::string_view prefix) const noexcept
    {
        const auto found = std::find_if(children_.begin(), children_.end(), [&](const child& each) {
            return is_child_of(each.name, prefix);
        });
        return found == children_.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool is_first(std::int32_t number) const noexcept
    {
        return children_.empty() || !is_before(first().number, number);
    }

    /// The child to wait for: the last one before this number, which is not the first.
    [[nodiscard]] const child& before(std::int32_t number) const noexcept
    {
        const auto behind = std::find_if(
            children_.begin(), children_.end(),
            [&](const child& each) { return !is_before(each.number, number); });
        return *(behind - 1);
    }

    /// The number of waiters before this number, which is not the first.
    [[nodiscard]] std::uint32_t position(std::int32_t number) const noexcept
    {
        std::uint32_t owners = 0;
        for (std::size_t i = 1; i < children_.size() && is_before(children_[i].number, number); ++i)
            owners += children_[i].number != children_[i - 1].number ? 1 : 0;
        return owners;
    }

    /// Whether another child has this number.
    [[nodiscard]] bool has(std::int32_t number) const noexcept
    {
        return std::any_of(children_.begin(), children_.end(),
                           [&](const child& each) { return each.number == number; });
    }

    void erase(std::string_view name)
    {
        std::erase_if(children_, [&](const child& each) { return each.name == name; });
    }

private:
    std::vector<child> children_;
};

} // namespace leasehold::zookeeper_store

#endif
