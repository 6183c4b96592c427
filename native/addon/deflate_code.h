// Huffman codes for deflate: RFC 1951, sections 3.2.2 and 3.2.7.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace blockyard {

/** A code for up to `kSymbols` symbols, none longer than `kMost` bits, the best for how often each occurs. */
template <size_t kSymbols, int kMost>
struct DeflateCode {
  std::array<uint32_t, kSymbols> counts = {};
  std::array<uint8_t, kSymbols> lengths = {};
  std::array<uint16_t, kSymbols> codes = {};

  /** From the counts. */
  void build() {
    std::array<uint16_t, kSymbols> symbols;
    size_t used = 0;
    for (size_t symbol = 0; symbol < kSymbols; symbol++) {
      if (counts[symbol] > 0) symbols[used++] = static_cast<uint16_t>(symbol);
    }
    // Some decoders do not take a code of fewer than two symbols.
    for (size_t symbol = 0; used < 2; symbol++) {
      if (counts[symbol] == 0) symbols[used++] = static_cast<uint16_t>(symbol);
    }
    std::sort(symbols.begin(), symbols.begin() + used, [this](uint16_t a, uint16_t b) {
      return counts[a] != counts[b] ? counts[a] < counts[b] : a < b;
    });
    std::array<uint16_t, kMost + 1> per_length = {};
    measure(symbols.data(), used, per_length);
    // The rarest have the longest.
    lengths.fill(0);
    size_t place = 0;
    for (int length = kMost; length > 0; length--) {
      for (int i = per_length[length]; i > 0; i--) lengths[symbols[place++]] = static_cast<uint8_t>(length);
    }
    assign();
  }

  /** The codes to the lengths, their first bit lowest. */
  void assign() {
    std::array<uint16_t, kMost + 2> next = {};
    for (uint8_t length : lengths) next[length + 1]++;
    next[1] = 0;
    for (int length = 1; length <= kMost; length++) next[length] = static_cast<uint16_t>((next[length - 1] + next[length]) << 1);
    for (size_t symbol = 0; symbol < kSymbols; symbol++) {
      const int length = lengths[symbol];
      if (length == 0) continue;
      unsigned code = next[length]++, reversed = 0;
      for (int i = 0; i < length; i++, code >>= 1) reversed = reversed << 1 | (code & 1);
      codes[symbol] = static_cast<uint16_t>(reversed);
    }
  }

  /** Bits that all the symbols take together. */
  size_t bits(const std::array<uint8_t, kSymbols>& with) const {
    size_t sum = 0;
    for (size_t symbol = 0; symbol < kSymbols; symbol++) sum += size_t{counts[symbol]} * with[symbol];
    return sum;
  }

  /** Symbols up to the last that has a code, and at least `least`. */
  size_t used(size_t least) const {
    size_t count = kSymbols;
    while (count > least && lengths[count - 1] == 0) count--;
    return count;
  }

 private:
  /** How many codes have each length: by a tree over the counts, which are in ascending order, and then within kMost. */
  void measure(const uint16_t* symbols, size_t leaves, std::array<uint16_t, kMost + 1>& per_length) const {
    std::array<uint64_t, 2 * kSymbols> weights;
    std::array<uint16_t, 2 * kSymbols> parents;
    std::array<uint8_t, 2 * kSymbols> depths;
    for (size_t i = 0; i < leaves; i++) weights[i] = counts[symbols[i]];
    size_t nodes = leaves, leaf = 0, inner = leaves;
    // Inner nodes come to be in ascending order too: the smallest is always the first of one of the two.
    auto smallest = [&] {
      return leaf < leaves && (inner >= nodes || weights[leaf] <= weights[inner]) ? leaf++ : inner++;
    };
    while (nodes < 2 * leaves - 1) {
      const size_t a = smallest(), b = smallest();
      parents[a] = parents[b] = static_cast<uint16_t>(nodes);
      weights[nodes++] = weights[a] + weights[b];
    }
    depths[nodes - 1] = 0;
    uint32_t space = 0;
    for (size_t node = nodes - 1; node-- > 0;) {
      // Deeper than the most is all the same.
      depths[node] = static_cast<uint8_t>(std::min(depths[parents[node]] + 1, 200));
      if (node >= leaves) continue;
      const int length = std::min<int>(depths[node], kMost);
      per_length[length]++;
      space += 1u << (kMost - length);
    }
    // Shortening took more than there is: one of the longest moves to beside a shorter one, which grows by one bit for it.
    for (; space > 1u << kMost; space--) {
      int length = kMost - 1;
      while (per_length[length] == 0) length--;
      per_length[kMost]--;
      per_length[length]--;
      per_length[length + 1] += 2;
    }
  }
};

}  // namespace blockyard
