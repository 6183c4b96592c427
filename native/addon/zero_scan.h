// The first byte that is not zero, at memory speed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace blockyard {

/** Index of the first byte that is not zero, or `length`. */
size_t find_non_zero(const uint8_t* data, size_t length);

/** Which instructions that uses here. */
const char* scan_name();

}  // namespace blockyard
