// The memory that JavaScript and this addon share: one ArrayBuffer per engine with a submission ring, a completion
// ring and the table of slots. It holds indices and offsets only, never addresses. src/layout.ts is its mirror.
#pragma once
#include <cstdint>
#include <cstring>

namespace blockyard {

constexpr uint32_t kSlots = 1024;  // a power of two; requests beyond it wait in JavaScript
constexpr uint32_t kMask = kSlots - 1;

// Word (32-bit) indices. Heads and tails are on cache lines of their own.
enum Word : uint32_t {
  kSqTail = 0,      // written by JavaScript
  kSqHead = 16,     // written by native
  kCqHead = 32,     // written by JavaScript
  kCqTail = 48,     // written by native
  kReferenced = 64, // 1 while the engine keeps the event loop alive
  kSqRing = 80,     // slot numbers
  kCqRing = kSqRing + kSlots,          // pairs: slot, result
  kSlotTable = kCqRing + 2 * kSlots,   // kSlotWords words per slot
};
constexpr uint32_t kSlotWords = 8;
constexpr uint32_t kSharedBytes = 4 * (kSlotTable + kSlots * kSlotWords);
static_assert(kSlotTable % 2 == 0, "positions are doubles");

enum Op : int32_t { kRead = 1, kWrite = 2, kSync = 3 };

/** One slot as JavaScript wrote it. */
struct Entry {
  int32_t op;
  int32_t fd;
  int32_t buffer;   // id of a registered buffer, or -1: staged in native
  uint32_t offset;  // within the buffer
  uint32_t length;
  uint32_t flags;   // kSync: 1 is data only
  double position;
};
static_assert(sizeof(Entry) == 4 * kSlotWords);

class Shared {
 public:
  Shared() = default;
  explicit Shared(void* memory) : words_(static_cast<uint32_t*>(memory)) {}

  uint32_t& at(Word word) { return words_[word]; }
  bool submitted() const { return words_[kSqHead] != words_[kSqTail]; }

  uint32_t take() { return words_[kSqRing + (words_[kSqHead]++ & kMask)]; }
  void complete(uint32_t slot, int32_t result) {
    uint32_t* entry = words_ + kCqRing + 2 * (words_[kCqTail]++ & kMask);
    entry[0] = slot;
    entry[1] = static_cast<uint32_t>(result);
  }
  /** A copy: what is checked is what is used. */
  Entry entry(uint32_t slot) const {
    Entry copy;
    std::memcpy(&copy, words_ + kSlotTable + slot * kSlotWords, sizeof copy);
    return copy;
  }

 private:
  uint32_t* words_ = nullptr;
};

}  // namespace blockyard
