// What one environment (main thread or worker) owns.
#pragma once
#include <vector>

#include "buffers.h"

namespace blockyard {

class Front;

struct Environment {
  Buffers buffers;
  std::vector<Front*> fronts;  // by id; null once it is gone

  int32_t add(Front* front) {
    for (size_t i = 0; i < fronts.size(); i++) {
      if (fronts[i] != nullptr) continue;
      fronts[i] = front;
      return static_cast<int32_t>(i);
    }
    fronts.push_back(front);
    return static_cast<int32_t>(fronts.size() - 1);
  }
  Front* front(int32_t id) const {
    return id >= 0 && static_cast<size_t>(id) < fronts.size() ? fronts[static_cast<size_t>(id)] : nullptr;
  }
};

}  // namespace blockyard
