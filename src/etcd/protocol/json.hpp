#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_JSON_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_JSON_HPP

#include <leasehold/detail/export.hpp>

#include <boost/json/fwd.hpp>
#include <boost/json/kind.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::etcd_store {

/// A value of a JSON text, as etcd's gateway writes it. Copies share the text's values.
class LEASEHOLD_ETCD_EXPORT json
{
public:
    using kind = boost::json::kind;

    /// Null.
    json() = default;

    /// Nothing: the text is malformed, or is nested too deeply.
    [[nodiscard]] static std::optional<json> parse(std::string_view text);

    [[nodiscard]] kind type() const noexcept;

    /// The member of an object. A missing member is null, as the gateway leaves out zeros.
    [[nodiscard]] json operator[](std::string_view name) const noexcept;
    /// The elements of an array. Empty: it is no array.
    [[nodiscard]] std::vector<json> elements() const;
    /// The text of a string. Empty: it is another value.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool is_true() const noexcept;

    /// An integer, which the gateway writes as a string, or as a number if it has 32 bits. Zero:
    /// the value is null. Nothing: it is no integer of this type.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> natural() const noexcept;
    /// The bytes of a string in Base64. Empty: the value is null. Nothing: it is not in Base64.
    [[nodiscard]] std::optional<std::string> bytes() const;

private:
    using pointer = std::shared_ptr<const boost::json::value>;

    explicit json(pointer at) noexcept : at_(std::move(at)) {}

    template <class Number>
    [[nodiscard]] std::optional<Number> number() const noexcept;

    pointer at_; ///< Null: the value is null.
};

/// The text as a JSON string, with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

} // namespace leasehold::etcd_store

#endif
