#include <cstring>

#include "backend.h"

namespace blockyard {

std::string describe(int error) {
#ifdef __GLIBC__
  if (const char* name = strerrorname_np(error)) return std::string(name) + " (" + strerrordesc_np(error) + ")";
#endif
  return std::strerror(error);
}

}  // namespace blockyard
