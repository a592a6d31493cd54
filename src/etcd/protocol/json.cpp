#include "etcd/protocol/json.hpp"

#include "base/base64.hpp"
#include "base/url.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace leasehold::etcd_store {

std::optional<json> json::parse(std::string_view text)
{
    boost::json::parse_options options;
    options.max_depth = 32;
    options.allow_invalid_utf8 = true; // a text of the server may quote any bytes
    boost::system::error_code failed;
    auto read = boost::json::parse(text, failed, {}, options);
    if (failed)
        return std::nullopt;
    return json(std::make_shared<boost::json::value>(std::move(read)));
}

json::kind json::type() const noexcept
{
    return at_ ? at_->kind() : kind::null;
}

json json::operator[](std::string_view name) const noexcept
{
    const auto* const members = at_ ? at_->if_object() : nullptr;
    const auto* const found = members != nullptr ? members->if_contains(name) : nullptr;
    return json(pointer(at_, found));
}

std::vector<json> json::elements() const
{
    std::vector<json> all;
    if (const auto* const array = at_ ? at_->if_array() : nullptr) {
        all.reserve(array->size());
        for (const boost::json::value& each : *array)
            all.push_back(json(pointer(at_, &each)));
    }
    return all;
}

std::string json::text() const
{
    const auto* const string = at_ ? at_->if_string() : nullptr;
    return string != nullptr ? std::string(*string) : std::string();
}

bool json::is_true() const noexcept
{
    return type() == kind::bool_ && at_->get_bool();
}

template <class Number>
std::optional<Number> json::number() const noexcept
{
    Number value = 0;
    if (type() == kind::null)
        return value;
    if (const auto* const string = at_->if_string())
        return detail::read_number(std::string_view(*string), value) ? std::optional(value)
                                                                     : std::nullopt;
    const auto exact = at_->try_to_number<Number>();
    return exact ? std::optional(*exact) : std::nullopt;
}

std::optional<std::int64_t> json::integer() const noexcept
{
    return number<std::int64_t>();
}

std::optional<std::uint64_t> json::natural() const noexcept
{
    return number<std::uint64_t>();
}

std::optional<std::string> json::bytes() const
{
    if (type() == kind::null)
        return std::string();
    const auto* const string = at_->if_string();
    return string != nullptr ? detail::decode_base64(*string) : std::nullopt;
}

std::string json_string(std::string_view text)
{
    return boost::json::serialize(text);
}

} // namespace leasehold::etcd_store
