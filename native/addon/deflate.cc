// Raw deflate, the encoder.
#include <climits>

#include "bytes_call.h"
#include "deflate_encoder.h"

namespace blockyard {

namespace {

class Work final : public BytesCall {
 public:
  int window_bits = 0;

 protected:
  void execute() override {
    if (input_.length > INT_MAX) return fail("2 GiB or more at once are not supported");
    done(deflate_raw(input_.data, input_.length, output_.data, output_.length, window_bits));
  }
};

/** deflateRaw(input, output, windowBits): the number of bytes written, 0 when they do not fit, or what is wrong. */
napi_value deflate_call(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  auto* work = new Work;
  work->window_bits = arguments.integer(2);
  return work->start_with(arguments, "blockyard:deflate");
}

}  // namespace

void add_deflate_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "deflateRaw", deflate_call, data);
}

}  // namespace blockyard
