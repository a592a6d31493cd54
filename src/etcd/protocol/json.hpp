#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_JSON_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_JSON_HPP

#include <leasehold/detail/export.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON, as far as etcd's gateway needs it. Boost.JSON is not used because it must be compiled, and
// an application may compile it too.
namespace leasehold::etcd_store {

/// A value of a JSON text.
class LEASEHOLD_ETCD_EXPORT json
{
public:
    enum class kind : std::uint8_t
    {
        null,
        boolean,
        number, ///< Kept as its text: 64 bits do not fit into a double.
        string,
        array,
        object,
    };

    /// Nothing: the text is malformed, or is nested too deeply.
    [[nodiscard]] static std::optional<json> parse(std::string_view text);

    [[nodiscard]] kind type() const noexcept { return kind_; }

    /// The member of an object. A missing member is null, as the gateway leaves out zeros.
    [[nodiscard]] const json& operator[](std::string_view name) const noexcept;
    /// The elements of an array. Empty: it is no array.
    [[nodiscard]] const std::vector<json>& elements() const noexcept { return elements_; }
    /// The text of a string or of a number. Empty: it is another value.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] bool is_true() const noexcept { return kind_ == kind::boolean && true_; }

    /// An integer, which the gateway writes as a string, or as a number if it has 32 bits. Zero:
    /// the value is null. Nothing: it is no integer of this type.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> natural() const noexcept;
    /// The bytes of a string in Base64. Empty: the value is null. Nothing: it is not in Base64.
    [[nodiscard]] std::optional<std::string> bytes() const;

private:
    friend class json_reader;

    kind kind_ = kind::null;
    bool true_ = false;
    std::string text_;
    std::vector<std::string> names_; ///< Of the members, whose values are the elements.
    std::vector<json> elements_;
};

/// The text as a JSON string, with its quotes. Bytes that are not ASCII stay.
[[nodiscard]] std::string json_string(std::string_view text);

} // namespace leasehold::etcd_store

#endif
