#include "buffers.h"

namespace blockyard {

int32_t Buffers::add(uint8_t* base, size_t length) {
  if (!free_.empty()) {
    const int32_t id = free_.back();
    free_.pop_back();
    table_[static_cast<size_t>(id)] = {base, length};
    return id;
  }
  table_.push_back({base, length});
  return static_cast<int32_t>(table_.size() - 1);
}

void Buffers::remove(int32_t id) {
  if (id < 0 || static_cast<size_t>(id) >= table_.size()) return;
  Buffer& buffer = table_[static_cast<size_t>(id)];
  if (buffer.base == nullptr) return;
  buffer = {};
  free_.push_back(id);
}

}  // namespace blockyard
