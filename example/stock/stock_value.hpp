#ifndef LEASEHOLD_EXAMPLE_STOCK_VALUE_HPP
#define LEASEHOLD_EXAMPLE_STOCK_VALUE_HPP

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace example {

/// A stock in one value: the units that are left, the largest fence that wrote, and the units that
/// each process sold.
struct stock_value
{
    explicit stock_value(int of = 0) : units(of) {}

    explicit stock_value(const std::string& text)
    {
        std::istringstream words(text);
        words >> units >> fence;
        for (int each = 0; words >> each;)
            sold.push_back(each);
    }

    [[nodiscard]] std::string text() const
    {
        std::string all = std::to_string(units) + ' ' + std::to_string(fence);
        for (const int each : sold)
            all += ' ' + std::to_string(each);
        return all;
    }

    /// Counts a sale. False: a larger fence has written before.
    bool sell(int left, int seller, std::uint64_t with)
    {
        if (fence > with)
            return false;
        units = left;
        fence = with;
        const auto index = static_cast<std::size_t>(seller - 1);
        if (sold.size() <= index)
            sold.resize(index + 1);
        ++sold[index];
        return true;
    }

    int units = 0;
    std::uint64_t fence = 0;
    std::vector<int> sold{};
};

} // namespace example

#endif
