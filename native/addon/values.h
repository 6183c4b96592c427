// Reading arguments and making values. The module is set up with node-addon-api; what runs per call uses Node-API
// itself, since a worker may be terminated at any moment: then every call that could run JavaScript fails, which the
// wrappers take for fatal. Here results start as null, and null is checked.
#pragma once
#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "environment.h"

namespace blockyard {

struct Bytes {
  uint8_t* data = nullptr;
  size_t length = 0;
};

/** Up to eight arguments of a call; missing ones are undefined. */
struct Arguments {
  napi_env env;
  napi_value values[8] = {};
  std::shared_ptr<Environment>* environment = nullptr;

  Arguments(napi_env env, napi_callback_info info) : env(env) {
    size_t count = 8;
    void* data = nullptr;
    napi_get_cb_info(env, info, &count, values, nullptr, &data);
    environment = static_cast<std::shared_ptr<Environment>*>(data);
  }

  napi_value operator[](size_t index) const { return values[index]; }
  int32_t integer(size_t index) const {
    int32_t value = -1;
    napi_get_value_int32(env, values[index], &value);
    return value;
  }
  uint32_t unsigned_integer(size_t index) const {
    uint32_t value = 0;
    napi_get_value_uint32(env, values[index], &value);
    return value;
  }
  double number(size_t index) const {
    double value = 0;
    napi_get_value_double(env, values[index], &value);
    return value;
  }
  std::string text(size_t index) const;
  /** False, with a TypeError thrown, when it is not a view of bytes. */
  bool bytes(size_t index, Bytes& bytes) const { return get_bytes(env, values[index], bytes); }
  Front* front() const { return (*environment)->front(integer(0)); }

  static bool get_bytes(napi_env env, napi_value value, Bytes& bytes);
};

napi_value make_number(napi_env env, double value);
napi_value make_text(napi_env env, const std::string& value);
void set_function(napi_env env, napi_value object, const char* name, napi_callback callback, void* data);

// Each file adds its own functions to the exported object.
void add_engine_functions(Napi::Env env, Napi::Object exports, void* data);
void add_memory_functions(Napi::Env env, Napi::Object exports, void* data);
void add_file_functions(Napi::Env env, Napi::Object exports, void* data);
void add_deflate_functions(Napi::Env env, Napi::Object exports, void* data);
void add_inflate_functions(Napi::Env env, Napi::Object exports, void* data);
void add_zstd_functions(Napi::Env env, Napi::Object exports, void* data);

}  // namespace blockyard
