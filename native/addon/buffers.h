// Slabs known by a number, so that a request crosses as an index and an offset. One table per environment. Only
// memory that cannot be detached is put here (src/arena.ts); any other is looked up when its request is made.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace blockyard {

struct Buffer {
  uint8_t* base = nullptr;
  size_t length = 0;
};

class Buffers {
 public:
  int32_t add(uint8_t* base, size_t length);
  void remove(int32_t id);
  /** Null when the range is not wholly inside a known buffer. */
  uint8_t* range(int32_t id, uint32_t offset, uint32_t length) const {
    if (id < 0 || static_cast<size_t>(id) >= table_.size()) return nullptr;
    const Buffer& buffer = table_[static_cast<size_t>(id)];
    if (buffer.base == nullptr || offset > buffer.length || length > buffer.length - offset) return nullptr;
    return buffer.base + offset;
  }

 private:
  std::vector<Buffer> table_;
  std::vector<int32_t> free_;
};

}  // namespace blockyard
