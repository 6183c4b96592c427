#include "uv_loop.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace blockyard {

namespace {
constexpr int kPoll = 8;
constexpr int kPrepare = 9;
}  // namespace

struct UvLoader {
  Uv uv{};
  bool complete = true;

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    if (function == nullptr) complete = false;
  }

  UvLoader() {
    unsigned (*version)() = nullptr;
    const char* (*type_name)(int) = nullptr;
    find(version, "uv_version");
    find(type_name, "uv_handle_type_name");
    find(uv.handle_size, "uv_handle_size");
    find(uv.poll_init, "uv_poll_init");
    find(uv.poll_start, "uv_poll_start");
    find(uv.prepare_init, "uv_prepare_init");
    find(uv.prepare_start, "uv_prepare_start");
    find(uv.close, "uv_close");
    find(uv.ref, "uv_ref");
    find(uv.unref, "uv_unref");
    find(uv.get_data, "uv_handle_get_data");
    find(uv.set_data, "uv_handle_set_data");
    complete = complete && version() >> 16 == 1 && named(type_name, kPoll, "poll") &&
               named(type_name, kPrepare, "prepare");
  }

  static bool named(const char* (*type_name)(int), int type, const char* expected) {
    const char* name = type_name(type);
    return name != nullptr && std::strcmp(name, expected) == 0;
  }
};

const Uv* Uv::get() {
  static const UvLoader loader;
  return loader.complete ? &loader.uv : nullptr;
}

UvHandle* Uv::make_poll() const { return static_cast<UvHandle*>(std::calloc(1, handle_size(kPoll))); }
UvHandle* Uv::make_prepare() const { return static_cast<UvHandle*>(std::calloc(1, handle_size(kPrepare))); }

}  // namespace blockyard
