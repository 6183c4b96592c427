// The engines as JavaScript sees them: numbers for engines and slots, shared memory for everything else.
#include <algorithm>
#include <climits>

#include "front.h"
#include "values.h"

namespace blockyard {

namespace {

constexpr uint32_t kMaxVector = 1024;  // IOV_MAX; what is beyond it makes the count short

Setup make(const std::string& kind) {
  if (kind == "io_uring") return make_uring();
  if (kind == "native") return make_aio();
  if (kind == "threads") return make_threads();
  return {nullptr, "no such engine: " + kind};
}

/** probeEngine(kind): undefined when it can be set up, else why not. */
napi_value probe_engine(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const Setup setup = make(arguments.text(0));
  if (setup.backend != nullptr) return nullptr;
  return make_text(env, setup.reason);
}

/** createEngine(kind, shared, onCompletions): its number, or why not. */
napi_value create_engine(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  void* memory = nullptr;
  size_t length = 0;
  if (napi_get_arraybuffer_info(env, arguments[1], &memory, &length) != napi_ok || length != kSharedBytes) {
    napi_throw_range_error(env, nullptr, "the shared memory is not of this addon's layout");
    return nullptr;
  }
  Setup setup = make(arguments.text(0));
  if (setup.backend == nullptr) return make_text(env, setup.reason);
  std::string reason;
  Front* front = Front::create(env, std::move(setup.backend), *arguments.environment, arguments[1], memory,
                               arguments[2], reason);
  if (front == nullptr) return make_text(env, reason);
  return make_number(env, front->id());
}

napi_value reference_engine(napi_env env, napi_callback_info info) {
  if (Front* front = Arguments(env, info).front()) front->reference();
  return nullptr;
}

napi_value cancel_request(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  if (Front* front = arguments.front()) front->cancel(arguments.unsigned_integer(1));
  return nullptr;
}

/** closeEngine(engine): false while something is in flight. */
napi_value close_engine(napi_env env, napi_callback_info info) {
  Front* front = Arguments(env, info).front();
  napi_value result = nullptr;
  napi_get_boolean(env, front == nullptr || front->close(), &result);
  return result;
}

iovec vector_of(const Bytes& bytes) { return {bytes.data, std::min<size_t>(bytes.length, INT_MAX & ~4095)}; }

/** stage(engine, slot, view or array of views): takes the addresses of memory that is not registered. */
napi_value stage(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  Front* front = arguments.front();
  Request* request = front == nullptr ? nullptr : front->stage(arguments.unsigned_integer(1));
  if (request == nullptr) {
    napi_throw_error(env, nullptr, "the slot is in use");
    return nullptr;
  }
  Bytes bytes;
  bool is_array = false;
  napi_is_array(env, arguments[2], &is_array);
  if (!is_array) {
    if (arguments.bytes(2, bytes)) request->one = vector_of(bytes);
    else request->staged = false;
    return nullptr;
  }
  uint32_t length = 0;
  napi_get_array_length(env, arguments[2], &length);
  length = std::min(length, kMaxVector);
  request->one = {};
  request->many.reserve(length);
  for (uint32_t i = 0; i < length; i++) {
    // Fails where the environment is being ended at this moment.
    napi_value view = nullptr;
    if (napi_get_element(env, arguments[2], i, &view) != napi_ok || !Arguments::get_bytes(env, view, bytes)) {
      request->many.clear();
      request->staged = false;
      return nullptr;
    }
    if (bytes.length != 0) request->many.push_back(vector_of(bytes));
  }
  return nullptr;
}

napi_value register_buffer(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  Bytes bytes;
  if (!arguments.bytes(0, bytes)) return nullptr;
  return make_number(env, (*arguments.environment)->buffers.add(bytes.data, bytes.length));
}

napi_value unregister_buffer(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  (*arguments.environment)->buffers.remove(arguments.integer(0));
  return nullptr;
}

}  // namespace

void add_engine_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "probeEngine", probe_engine, data);
  set_function(env, exports, "createEngine", create_engine, data);
  set_function(env, exports, "referenceEngine", reference_engine, data);
  set_function(env, exports, "cancelRequest", cancel_request, data);
  set_function(env, exports, "closeEngine", close_engine, data);
  set_function(env, exports, "stage", stage, data);
  set_function(env, exports, "registerBuffer", register_buffer, data);
  set_function(env, exports, "unregisterBuffer", unregister_buffer, data);
  exports.Set("sharedBytes", kSharedBytes);
}

}  // namespace blockyard
