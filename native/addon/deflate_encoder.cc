#include "deflate_encoder.h"

#include <bit>
#include <cstring>
#include <memory>

#include "deflate_code.h"

namespace blockyard {

namespace {

constexpr int kHashBits = 15;
constexpr size_t kShortest = 3, kLongest = 258;
/** How many earlier places are tried for a match; a quarter of them for one that is to be longer than a good one. */
constexpr int kTries = 64;
constexpr size_t kGood = 8;
/** A match as long as that is taken without a look at what begins one byte later. */
constexpr size_t kLazy = 32;
/** A match as long as that ends the search. */
constexpr size_t kEnough = 130;
/** Symbols of one block: enough for a code to be worth its description, few enough for it to suit them. */
constexpr size_t kBlockTokens = 1 << 14;
constexpr int kEndOfBlock = 256;

using Literals = DeflateCode<288, 15>;
using Distances = DeflateCode<30, 15>;
using Lengths = DeflateCode<19, 7>;

int log2_of(uint32_t value) { return 31 - std::countl_zero(value); }

/** A symbol with its extra bits. */
struct Coded {
  uint32_t symbol, extra;
  int bits;
};

Coded code_length(size_t length) {
  if (length == kLongest) return {285, 0, 0};
  const uint32_t rest = static_cast<uint32_t>(length - kShortest);
  if (rest < 8) return {257 + rest, 0, 0};
  const int bits = log2_of(rest) - 2;
  return {257 + 4u * (bits + 1) + (rest >> bits & 3), rest & ((1u << bits) - 1), bits};
}

Coded code_distance(size_t distance) {
  const uint32_t rest = static_cast<uint32_t>(distance - 1);
  if (rest < 2) return {rest, 0, 0};
  const int bits = log2_of(rest) - 1;
  return {2u * (bits + 1) + (rest >> bits & 1), rest & ((1u << bits) - 1), bits};
}

/** Puts bits together, lowest first. That there is room is known before. */
class Bits {
 public:
  explicit Bits(uint8_t* output) : start_(output), at_(output) {}

  void put(uint32_t value, int count) {
    bits_ |= uint64_t{value} << count_;
    count_ += count;
    if (count_ < 32) return;
    for (int i = 0; i < 4; i++) *at_++ = static_cast<uint8_t>(bits_ >> (8 * i));
    bits_ >>= 32;
    count_ -= 32;
  }
  void put(const Coded& coded) { put(coded.extra, coded.bits); }

  size_t total_bits() const { return static_cast<size_t>(at_ - start_) * 8 + count_; }

  size_t finish() {
    for (; count_ > 0; count_ -= 8, bits_ >>= 8) *at_++ = static_cast<uint8_t>(bits_);
    return static_cast<size_t>(at_ - start_);
  }

 private:
  uint8_t* start_;
  uint8_t* at_;
  uint64_t bits_ = 0;
  int count_ = 0;
};

/** A literal as its byte and no distance, or a match. */
struct Token {
  uint16_t length_or_byte, distance;
};

struct Block {
  size_t tokens = 0;
  Token token[kBlockTokens];
  Literals literals;
  Distances distances;
  size_t extra_bits;

  void clear() {
    tokens = 0;
    literals.counts.fill(0);
    distances.counts.fill(0);
    extra_bits = 0;
  }
  void add_literal(uint8_t byte) {
    token[tokens++] = {byte, 0};
    literals.counts[byte]++;
  }
  void add_match(size_t length, size_t distance) {
    token[tokens++] = {static_cast<uint16_t>(length), static_cast<uint16_t>(distance)};
    const Coded one = code_length(length), other = code_distance(distance);
    literals.counts[one.symbol]++;
    distances.counts[other.symbol]++;
    extra_bits += one.bits + other.bits;
  }
};

struct Match {
  size_t length = 0, distance = 0;
};

/** Earlier places of the same three bytes, within a window. */
class Window {
 public:
  void begin(const uint8_t* input, size_t length, int window_bits) {
    input_ = input;
    length_ = length;
    size_ = size_t{1} << window_bits;
    std::fill(std::begin(heads_), std::end(heads_), -1);
  }

  void enter(size_t at) {
    if (at + kShortest > length_) return;
    int32_t& head = heads_[hash(at)];
    earlier_[at & (size_ - 1)] = head;
    head = static_cast<int32_t>(at);
  }

  /** The longest match at `at` that is longer than `least`. */
  Match find(size_t at, size_t least) const {
    Match match;
    if (at + kShortest > length_) return match;
    const uint8_t* here = input_ + at;
    const size_t limit = std::min(kLongest, length_ - at);
    size_t best = std::max(least, kShortest - 1);
    if (best >= limit) return match;
    int tries = least >= kGood ? kTries / 4 : kTries;
    for (int32_t place = heads_[hash(at)]; place >= 0 && at - place <= size_ && tries > 0; tries--) {
      const uint8_t* there = input_ + place;
      // The end is where most differ.
      if (there[best] == here[best] && there[best - 1] == here[best - 1]) {
        const size_t length = common(there, here, limit);
        if (length > best) {
          best = length;
          match = {length, at - place};
          if (length >= kEnough || length == limit) break;
        }
      }
      const int32_t next = earlier_[place & (size_ - 1)];
      // Its place was taken by a later one, as happens at the very end of the window.
      if (next >= place) break;
      place = next;
    }
    return match;
  }

 private:
  uint32_t hash(size_t at) const {
    const uint32_t bytes = input_[at] | uint32_t{input_[at + 1]} << 8 | uint32_t{input_[at + 2]} << 16;
    return bytes * 0x9e3779b1u >> (32 - kHashBits);
  }

  static size_t common(const uint8_t* a, const uint8_t* b, size_t limit) {
    size_t length = 0;
    if constexpr (std::endian::native == std::endian::little) {
      for (; length + 8 <= limit; length += 8) {
        uint64_t one, other;
        std::memcpy(&one, a + length, 8);
        std::memcpy(&other, b + length, 8);
        if (one != other) return length + std::countr_zero(one ^ other) / 8;
      }
    }
    while (length < limit && a[length] == b[length]) length++;
    return length;
  }

  const uint8_t* input_;
  size_t length_, size_;
  int32_t heads_[1 << kHashBits];
  int32_t earlier_[1 << 15];
};

/** A code length, or a repetition of one, with its extra bits. */
struct Run {
  uint8_t symbol, extra, bits;
};

/** The description of a block's codes. */
struct Description {
  Lengths lengths;
  Run runs[288 + 30];
  size_t count = 0, literals, distances, length_codes = 19, bits = 14;

  Description(const Literals& literal, const Distances& distance) : literals(literal.used(257)), distances(distance.used(1)) {
    uint8_t all[288 + 30];
    std::copy_n(literal.lengths.begin(), literals, all);
    std::copy_n(distance.lengths.begin(), distances, all + literals);
    for (size_t at = 0, end = literals + distances; at < end;) {
      const uint8_t value = all[at];
      size_t run = 1;
      while (at + run < end && all[at + run] == value) run++;
      at += run;
      add_runs(value, run);
    }
    lengths.build();
    while (length_codes > 4 && lengths.lengths[kOrder[length_codes - 1]] == 0) length_codes--;
    bits += 3 * length_codes + lengths.bits(lengths.lengths);
  }

  void write(Bits& output) const {
    output.put(static_cast<uint32_t>(literals - 257), 5);
    output.put(static_cast<uint32_t>(distances - 1), 5);
    output.put(static_cast<uint32_t>(length_codes - 4), 4);
    for (size_t i = 0; i < length_codes; i++) output.put(lengths.lengths[kOrder[i]], 3);
    for (size_t i = 0; i < count; i++) {
      output.put(lengths.codes[runs[i].symbol], lengths.lengths[runs[i].symbol]);
      output.put(runs[i].extra, runs[i].bits);
    }
  }

 private:
  static constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

  void add_runs(uint8_t value, size_t run) {
    if (value != 0) {
      add(value, 0, 0);
      run--;
    }
    while (run >= 3) {
      const bool many = value == 0 && run >= 11;
      const uint8_t symbol = value != 0 ? 16 : many ? 18 : 17, extra = value != 0 ? 2 : many ? 7 : 3;
      const size_t least = many ? 11 : 3, taken = std::min(run, least + (size_t{1} << extra) - 1);
      add(symbol, static_cast<uint8_t>(taken - least), extra);
      run -= taken;
    }
    for (; run > 0; run--) add(value, 0, 0);
  }

  void add(uint8_t symbol, uint8_t extra, uint8_t extra_bits) {
    runs[count++] = {symbol, extra, extra_bits};
    lengths.counts[symbol]++;
    bits += extra_bits;
  }
};

/** The codes that every decoder knows. */
struct FixedCodes {
  Literals literals;
  Distances distances;
  FixedCodes() {
    for (size_t symbol = 0; symbol < 288; symbol++)
      literals.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    distances.lengths.fill(5);
    literals.assign();
    distances.assign();
  }
};

void write_tokens(Bits& output, const Block& block, const Literals& literals, const Distances& distances) {
  for (size_t i = 0; i < block.tokens; i++) {
    const auto [length_or_byte, distance] = block.token[i];
    if (distance == 0) {
      output.put(literals.codes[length_or_byte], literals.lengths[length_or_byte]);
      continue;
    }
    const Coded one = code_length(length_or_byte), other = code_distance(distance);
    output.put(literals.codes[one.symbol], literals.lengths[one.symbol]);
    output.put(one);
    output.put(distances.codes[other.symbol], distances.lengths[other.symbol]);
    output.put(other);
  }
  output.put(literals.codes[kEndOfBlock], literals.lengths[kEndOfBlock]);
}

/** False when it does not fit: then nothing is written. */
bool write_block(Bits& output, size_t capacity, Block& block, bool last) {
  static const FixedCodes fixed;
  Literals& literals = block.literals;
  Distances& distances = block.distances;
  literals.counts[kEndOfBlock] = 1;
  literals.build();
  distances.build();
  const Description description(literals, distances);
  const size_t own = description.bits + literals.bits(literals.lengths) + distances.bits(distances.lengths);
  const size_t known = literals.bits(fixed.literals.lengths) + distances.bits(fixed.distances.lengths);
  const size_t needed = output.total_bits() + 3 + std::min(own, known) + block.extra_bits;
  if ((needed + 7) / 8 > capacity) return false;
  output.put(last ? 1 : 0, 1);
  if (own < known) {
    output.put(2, 2);
    description.write(output);
    write_tokens(output, block, literals, distances);
  } else {
    output.put(1, 2);
    write_tokens(output, block, fixed.literals, fixed.distances);
  }
  return true;
}

struct Encoder {
  Window window;
  Block block;
};

}  // namespace

size_t deflate_raw(const uint8_t* input, size_t length, uint8_t* output, size_t capacity, int window_bits) {
  // One per thread: it is larger than a stack may have left.
  static thread_local const std::unique_ptr<Encoder> encoder(new Encoder);
  auto& [window, block] = *encoder;
  window.begin(input, length, window_bits);
  Bits bits(output);
  Match carried;
  for (size_t at = 0;;) {
    block.clear();
    while (at < length && block.tokens < kBlockTokens) {
      const Match match = carried.length > 0 ? carried : window.find(at, 0);
      carried = {};
      window.enter(at);
      // A longer match that begins one byte later is worth a literal.
      if (match.length > 0 && match.length < kLazy) carried = window.find(at + 1, match.length);
      if (match.length == 0 || carried.length > 0) {
        block.add_literal(input[at++]);
        continue;
      }
      block.add_match(match.length, match.distance);
      for (const size_t end = at + match.length; ++at < end;) window.enter(at);
    }
    const bool last = at == length;
    if (!write_block(bits, capacity, block, last)) return 0;
    if (last) return bits.finish();
  }
}

}  // namespace blockyard
