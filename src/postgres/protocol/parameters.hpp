#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_PARAMETERS_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_PARAMETERS_HPP

#include "postgres/protocol/big_endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::postgres_store {

/// The parameters of one statement in the binary format, with their own memory.
class parameters
{
public:
    /// A `bytea` or a `text`.
    void add(std::string_view bytes)
    {
        bytes_.append(bytes);
        end();
    }

    void add(bool value) { add(std::string_view(value ? "\1" : "\0", 1)); }
    void add(std::int32_t value) { add_number(value); }
    void add(std::int64_t value) { add_number(value); }

    void add_null()
    {
        ends_.push_back(bytes_.size());
        nulls_.push_back(true);
    }

    /// A one-dimensional array. `element(i)` returns the bytes of an element.
    template <class Element>
    void add_array(std::uint32_t element_type, std::size_t size, Element element)
    {
        append(std::int32_t(size == 0 ? 0 : 1)); // dimensions
        append(std::int32_t(0));                 // it has no NULL
        append(static_cast<std::int32_t>(element_type));
        if (size != 0) {
            append(static_cast<std::int32_t>(size));
            append(std::int32_t(1)); // the lower bound
        }
        for (std::size_t i = 0; i < size; ++i) {
            const std::string_view bytes = element(i);
            append(static_cast<std::int32_t>(bytes.size()));
            bytes_.append(bytes);
        }
        end();
    }

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

    /// The value of a parameter; empty: NULL.
    [[nodiscard]] std::optional<std::string_view> operator[](std::size_t i) const noexcept
    {
        if (nulls_[i])
            return std::nullopt;
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(bytes_).substr(begin, ends_[i] - begin);
    }

private:
    template <class Number>
    void append(Number value)
    {
        const auto raw = to_big_endian(value);
        bytes_.append(raw.data(), raw.size());
    }

    template <class Number>
    void add_number(Number value)
    {
        append(value);
        end();
    }

    void end()
    {
        ends_.push_back(bytes_.size());
        nulls_.push_back(false);
    }

    std::string bytes_;
    std::vector<std::size_t> ends_;
    std::vector<bool> nulls_;
};

/// The big-endian form of a number, for an element of an array.
class element_bytes
{
public:
    explicit element_bytes(std::int64_t value) noexcept : raw_(to_big_endian(value)) {}
    [[nodiscard]] std::string_view view() const noexcept { return {raw_.data(), raw_.size()}; }

private:
    std::array<char, sizeof(std::int64_t)> raw_;
};

} // namespace leasehold::postgres_store

#endif
