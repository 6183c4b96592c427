// The first byte that is not zero, at memory speed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace blockyard {

/** Index of the first byte that is not zero, or `length`. */
size_t find_non_zero(const uint8_t* data, size_t length);

using Scan = size_t (*)(const uint8_t*, size_t);
/** The variant of that name, or null where the processor lacks it. */
Scan scan_by_name(std::string_view name);

/** Which instructions that uses here. */
const char* scan_name();

}  // namespace blockyard
