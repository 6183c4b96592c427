#include "values.h"

namespace blockyard {

std::string Arguments::text(size_t index) const {
  size_t length = 0;
  if (values[index] == nullptr || napi_get_value_string_utf8(env, values[index], nullptr, 0, &length) != napi_ok) return "";
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, values[index], text.data(), length + 1, &length);
  return text;
}

bool Arguments::get_bytes(napi_env env, napi_value value, Bytes& bytes) {
  napi_typedarray_type type;
  void* data = nullptr;
  size_t length = 0;
  if (value == nullptr || napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
      (type != napi_uint8_array && type != napi_int8_array && type != napi_uint8_clamped_array)) {
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "a Uint8Array was expected");
    return false;
  }
  bytes = {static_cast<uint8_t*>(data), length};
  return true;
}

napi_value make_number(napi_env env, double value) {
  napi_value result = nullptr;
  napi_create_double(env, value, &result);
  return result;
}

napi_value make_text(napi_env env, const std::string& value) {
  napi_value result = nullptr;
  napi_create_string_utf8(env, value.data(), value.size(), &result);
  return result;
}

void set_function(napi_env env, napi_value object, const char* name, napi_callback callback, void* data) {
  napi_value function = nullptr;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, data, &function) != napi_ok) return;
  napi_set_named_property(env, object, name, function);
}

}  // namespace blockyard
