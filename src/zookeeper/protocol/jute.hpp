#ifndef LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_JUTE_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_JUTE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// The encoding of ZooKeeper's messages: numbers are big-endian, and a text follows its length.
namespace leasehold::zookeeper_store {

class jute_writer
{
public:
    jute_writer& number(std::int32_t value) { return bytes_of(static_cast<std::uint32_t>(value)); }
    jute_writer& number(std::int64_t value) { return bytes_of(static_cast<std::uint64_t>(value)); }

    jute_writer& flag(bool value)
    {
        bytes_ += value ? '\1' : '\0';
        return *this;
    }

    jute_writer& text(std::string_view value)
    {
        number(static_cast<std::int32_t>(value.size()));
        bytes_ += value;
        return *this;
    }

    /// Appends bytes that are encoded already.
    jute_writer& raw(std::string_view value)
    {
        bytes_ += value;
        return *this;
    }

    [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }

private:
    template <class Unsigned>
    jute_writer& bytes_of(Unsigned value)
    {
        for (std::size_t i = sizeof value; i-- > 0;)
            bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
        return *this;
    }

    std::string bytes_;
};

/// Reads from bytes that may be anything. After the first value that is not there, all further ones
/// are zero or empty, and `good` is false.
class jute_reader
{
public:
    jute_reader() = default;
    explicit jute_reader(std::string_view bytes) noexcept : rest_(bytes) {}

    std::int32_t i32() noexcept { return static_cast<std::int32_t>(value<std::uint32_t>()); }
    std::int64_t i64() noexcept { return static_cast<std::int64_t>(value<std::uint64_t>()); }
    bool flag() noexcept { return value<std::uint8_t>() != 0; }

    /// A text. The length -1, of a missing one, is an empty text.
    std::string_view text() noexcept
    {
        const std::int32_t size = i32();
        if (size < -1)
            good_ = false;
        return size > 0 ? bytes(static_cast<std::size_t>(size)) : std::string_view();
    }

    /// The size of a list whose elements have at least four bytes each.
    std::size_t list() noexcept
    {
        const std::int32_t size = i32();
        if (size < -1 || (size > 0 && static_cast<std::size_t>(size) > rest_.size() / 4))
            good_ = false;
        return good_ && size > 0 ? static_cast<std::size_t>(size) : 0;
    }

    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

private:
    std::string_view bytes(std::size_t size) noexcept
    {
        if (!good_ || size > rest_.size()) {
            good_ = false;
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    template <class Unsigned>
    Unsigned value() noexcept
    {
        std::uint64_t result = 0;
        for (const char each : bytes(sizeof(Unsigned)))
            result = result << 8 | static_cast<unsigned char>(each);
        return static_cast<Unsigned>(result);
    }

    std::string_view rest_;
    bool good_ = true;
};

} // namespace leasehold::zookeeper_store

#endif
