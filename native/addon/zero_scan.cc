#include "zero_scan.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace blockyard {

namespace {

size_t scan_words(const uint8_t* data, size_t length) {
  size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    uint64_t word;
    std::memcpy(&word, data + at, 8);
    if (word == 0) continue;
    if constexpr (std::endian::native == std::endian::little) {
      return at + static_cast<size_t>(std::countr_zero(word)) / 8;
    }
    break;
  }
  while (at < length && data[at] == 0) at++;
  return at;
}

// Each variant finds the block of four registers that is not all zero; scan_words then finds the byte.
#if defined(__x86_64__)

__attribute__((target("avx512f"))) size_t scan_avx512(const uint8_t* data, size_t length) {
  size_t at = 0;
  for (; at + 256 <= length; at += 256) {
    const __m512i a = _mm512_or_si512(_mm512_loadu_si512(data + at), _mm512_loadu_si512(data + at + 64));
    const __m512i b = _mm512_or_si512(_mm512_loadu_si512(data + at + 128), _mm512_loadu_si512(data + at + 192));
    const __m512i all = _mm512_or_si512(a, b);
    if (_mm512_test_epi64_mask(all, all) != 0) break;
  }
  return at + scan_words(data + at, length - at);
}

__attribute__((target("avx2"))) size_t scan_avx2(const uint8_t* data, size_t length) {
  size_t at = 0;
  for (; at + 128 <= length; at += 128) {
    const auto* from = reinterpret_cast<const __m256i*>(data + at);
    const __m256i a = _mm256_or_si256(_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1));
    const __m256i b = _mm256_or_si256(_mm256_loadu_si256(from + 2), _mm256_loadu_si256(from + 3));
    const __m256i all = _mm256_or_si256(a, b);
    if (_mm256_testz_si256(all, all) == 0) break;
  }
  return at + scan_words(data + at, length - at);
}

size_t scan_sse2(const uint8_t* data, size_t length) {
  size_t at = 0;
  const __m128i zero = _mm_setzero_si128();
  for (; at + 64 <= length; at += 64) {
    const auto* from = reinterpret_cast<const __m128i*>(data + at);
    const __m128i a = _mm_or_si128(_mm_loadu_si128(from), _mm_loadu_si128(from + 1));
    const __m128i b = _mm_or_si128(_mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(a, b), zero)) != 0xffff) break;
  }
  return at + scan_words(data + at, length - at);
}

#elif defined(__aarch64__)

size_t scan_neon(const uint8_t* data, size_t length) {
  size_t at = 0;
  for (; at + 64 <= length; at += 64) {
    const uint8x16_t a = vorrq_u8(vld1q_u8(data + at), vld1q_u8(data + at + 16));
    const uint8x16_t b = vorrq_u8(vld1q_u8(data + at + 32), vld1q_u8(data + at + 48));
    if (vmaxvq_u8(vorrq_u8(a, b)) != 0) break;
  }
  return at + scan_words(data + at, length - at);
}

#endif

struct Choice {
  const char* name;
  Scan scan;
  bool usable;
};

/** Best first. */
const Choice* choices() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  static const Choice all[] = {
      {"avx512", scan_avx512, __builtin_cpu_supports("avx512f") != 0},
      {"avx2", scan_avx2, __builtin_cpu_supports("avx2") != 0},
      {"sse2", scan_sse2, true},
      {"scalar", scan_words, true},
      {},
  };
#elif defined(__aarch64__)
  static const Choice all[] = {{"neon", scan_neon, true}, {"scalar", scan_words, true}, {}};
#else
  static const Choice all[] = {{"scalar", scan_words, true}, {}};
#endif
  return all;
}

const Choice& choose() {
  const Choice* choice = choices();
  while (!choice->usable) choice++;
  return *choice;
}

const Choice& chosen = choose();

}  // namespace

Scan scan_by_name(std::string_view name) {
  for (const Choice* choice = choices(); choice->name != nullptr; choice++) {
    if (choice->usable && name == choice->name) return choice->scan;
  }
  return nullptr;
}

size_t find_non_zero(const uint8_t* data, size_t length) { return chosen.scan(data, length); }
const char* scan_name() { return chosen.name; }

}  // namespace blockyard
