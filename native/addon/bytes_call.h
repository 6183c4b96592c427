// Work from one view of bytes into another, on libuv's pool: a number comes of it, or words for what is wrong.
#pragma once
#include <string>

#include "async_call.h"
#include "values.h"

namespace blockyard {

class BytesCall : public AsyncCall {
 public:
  /** Takes the first two arguments, `input` and `output`, and starts; null with an error thrown when they are not views. */
  napi_value start_with(const Arguments& arguments, const char* name) {
    if (!arguments.bytes(0, input_) || !arguments.bytes(1, output_)) {
      delete this;
      return nullptr;
    }
    for (size_t i = 0; i < 2; i++) napi_create_reference(arguments.env, arguments[i], 1, &references_[i]);
    return start(arguments.env, name);
  }

 protected:
  void done(size_t length) { length_ = length; }
  void fail(const char* why) { error_ = why; }

  napi_value result(napi_env env) override {
    return error_.empty() ? make_number(env, static_cast<double>(length_)) : make_text(env, error_);
  }

  void release(napi_env env) override {
    for (napi_ref reference : references_) napi_delete_reference(env, reference);
  }

  Bytes input_, output_;

 private:
  napi_ref references_[2] = {};
  size_t length_ = 0;
  std::string error_;
};

}  // namespace blockyard
