#ifndef LEASEHOLD_SRC_EXTRAS_METRICS_LABEL_VALUE_HPP
#define LEASEHOLD_SRC_EXTRAS_METRICS_LABEL_VALUE_HPP

#include <string>

namespace leasehold::detail {

/// A text as the value of a label: UTF-8 without control characters, 128 bytes at most. Other bytes
/// become `?`.
[[nodiscard]] std::string label_value(std::string text);

} // namespace leasehold::detail

#endif
