// Functions of libraries that are looked for at run time, so that nothing is linked and nothing is shipped.
#pragma once
#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <type_traits>

namespace blockyard {

/** Null, with the reason in words, when none of the names can be opened. What is opened is never closed. */
inline void* open_library(std::initializer_list<const char*> names, const char* what, std::string& reason) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  const char* said = dlerror();
  reason = std::string("the system's ") + what + " library cannot be opened: " + (said != nullptr ? said : "not found");
  return nullptr;
}

/** False, and the function null, where the library lacks it. */
template <typename Function>
bool find_function(void* handle, const char* name, Function& function) {
  static_assert(std::is_pointer_v<Function>);
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace blockyard
