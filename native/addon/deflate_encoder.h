// A raw deflate encoder (RFC 1951) for pieces of memory and small windows: zlib's own, as Node has it, looks for no
// match of three bytes, which makes programs and file systems some hundredths larger.
#pragma once
#include <cstddef>
#include <cstdint>

namespace blockyard {

/** The compressed length; 0 when it does not fit. A decoder needs a window of 2^`window_bits` bytes, 9 to 15. */
size_t deflate_raw(const uint8_t* input, size_t length, uint8_t* output, size_t capacity, int window_bits);

}  // namespace blockyard
