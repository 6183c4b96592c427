// The system's zstd library, opened at run time: nothing is linked and nothing is shipped.
#include "bytes_call.h"
#include "library.h"

namespace blockyard {

namespace {

struct Library {
  size_t (*find_frame)(const void* source, size_t size) = nullptr;
  size_t (*decompress)(void* context, void* to, size_t capacity, const void* from, size_t size) = nullptr;
  size_t (*compress)(void* context, void* to, size_t capacity, const void* from, size_t size, int level) = nullptr;
  unsigned (*is_error)(size_t code) = nullptr;
  int (*error_code)(size_t code) = nullptr;
  const char* (*error_name)(size_t code) = nullptr;
  void* (*make_decoder)() = nullptr;
  void* (*make_encoder)() = nullptr;
  size_t (*free_decoder)(void*) = nullptr;
  size_t (*free_encoder)(void*) = nullptr;
  std::string reason;

  Library() {
#ifdef __APPLE__
    void* handle = open_library(
        {"libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib"}, "zstd", reason);
#else
    void* handle = open_library({"libzstd.so.1"}, "zstd", reason);
#endif
    if (handle == nullptr) return;
    bool complete = true;
    auto find = [&](auto& function, const char* name) { complete &= find_function(handle, name, function); };
    find(find_frame, "ZSTD_findFrameCompressedSize");
    find(decompress, "ZSTD_decompressDCtx");
    find(compress, "ZSTD_compressCCtx");
    find(is_error, "ZSTD_isError");
    find(error_code, "ZSTD_getErrorCode");
    find(error_name, "ZSTD_getErrorName");
    find(make_decoder, "ZSTD_createDCtx");
    find(make_encoder, "ZSTD_createCCtx");
    find(free_decoder, "ZSTD_freeDCtx");
    find(free_encoder, "ZSTD_freeCCtx");
    if (!complete) reason = "the system's zstd library is too old (1.4 or newer is needed)";
  }

  static const Library& get() {
    static const Library library;
    return library;
  }
};

/** One per thread of the pool: making them costs more than a cluster. */
struct Contexts {
  void* decoder = nullptr;
  void* encoder = nullptr;
  ~Contexts() {
    if (decoder != nullptr) Library::get().free_decoder(decoder);
    if (encoder != nullptr) Library::get().free_encoder(encoder);
  }
};
thread_local Contexts contexts;

constexpr int kDestinationTooSmall = 70;  // ZSTD_error_dstSize_tooSmall, stable since 1.3.1

class Work final : public BytesCall {
 public:
  bool compressing = false;
  int level = 0;

 protected:
  void execute() override {
    const Library& zstd = Library::get();
    size_t result;
    if (compressing) {
      if (contexts.encoder == nullptr) contexts.encoder = zstd.make_encoder();
      if (contexts.encoder == nullptr) return fail("out of memory");
      result = zstd.compress(contexts.encoder, output_.data, output_.length, input_.data, input_.length, level);
      if (zstd.is_error(result) != 0 && zstd.error_code(result) == kDestinationTooSmall) result = 0;
    } else {
      if (contexts.decoder == nullptr) contexts.decoder = zstd.make_decoder();
      if (contexts.decoder == nullptr) return fail("out of memory");
      // The decoder itself refuses what follows the frame, and clusters are padded.
      const size_t frame = zstd.find_frame(input_.data, input_.length);
      if (zstd.is_error(frame) != 0) return fail(zstd.error_name(frame));
      result = zstd.decompress(contexts.decoder, output_.data, output_.length, input_.data, frame);
    }
    if (zstd.is_error(result) != 0) return fail(zstd.error_name(result));
    done(result);
  }
};

napi_value start(napi_env env, const Arguments& arguments, bool compressing) {
  if (!Library::get().reason.empty()) {
    napi_throw_error(env, nullptr, Library::get().reason.c_str());
    return nullptr;
  }
  auto* work = new Work;
  work->compressing = compressing;
  work->level = arguments.integer(2);
  return work->start_with(arguments, "blockyard:zstd");
}

napi_value decompress(napi_env env, napi_callback_info info) { return start(env, Arguments(env, info), false); }
napi_value compress(napi_env env, napi_callback_info info) { return start(env, Arguments(env, info), true); }

/** probeZstd(): undefined when the library is there, else why not. */
napi_value probe_zstd(napi_env env, napi_callback_info) {
  const std::string& reason = Library::get().reason;
  return reason.empty() ? nullptr : make_text(env, reason);
}

}  // namespace

void add_zstd_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "probeZstd", probe_zstd, data);
  set_function(env, exports, "zstdDecompress", decompress, data);
  set_function(env, exports, "zstdCompress", compress, data);
}

}  // namespace blockyard
