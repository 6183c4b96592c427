// The entry point: one exported object per environment.
#include <napi.h>

#include <memory>

#include "values.h"

namespace blockyard {

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* data = new std::shared_ptr<Environment>(std::make_shared<Environment>());
  env.SetInstanceData(data);  // deleted with the environment
  add_engine_functions(env, exports, data);
  add_memory_functions(env, exports, data);
  add_file_functions(env, exports, data);
  add_deflate_functions(env, exports, data);
  add_inflate_functions(env, exports, data);
  add_zstd_functions(env, exports, data);
  return exports;
}

}  // namespace blockyard

static Napi::Object init(Napi::Env env, Napi::Object exports) { return blockyard::init(env, exports); }
NODE_API_MODULE(native, init)
