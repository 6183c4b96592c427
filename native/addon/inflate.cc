// Raw deflate by zlib, whose functions are found at run time: Node's executable exports those it was built with (they
// are the faster ones), and a process without any has the system's library.
#include <climits>

#include "bytes_call.h"
#include "library.h"

namespace blockyard {

namespace {

/** zlib.h's z_stream: public, unchanged since 1.0, and its size is checked by the library itself. */
struct Stream {
  const uint8_t* next_in;
  unsigned avail_in;
  unsigned long total_in;
  uint8_t* next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char* message;
  void* state;
  void* (*allocate)(void*, unsigned, unsigned);
  void (*free)(void*, void*);
  void* opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
};
static_assert(sizeof(void*) != 8 || sizeof(long) != 8 || sizeof(Stream) == 112);

constexpr int kOk = 0, kStreamEnd = 1, kDataError = -3, kMemoryError = -4, kBufferError = -5;
constexpr int kFinish = 4;
/** Negative: no header. The largest window decodes the smaller ones, such as qcow2's of 12 bits, too. */
constexpr int kWindowBits = -15;

struct Library {
  const char* (*version)() = nullptr;
  int (*init)(Stream*, int window_bits, const char* version, int stream_size) = nullptr;
  int (*inflate)(Stream*, int flush) = nullptr;
  int (*reset)(Stream*) = nullptr;
  int (*end)(Stream*) = nullptr;
  std::string reason;

  Library() {
    if (find(RTLD_DEFAULT) && of_one_library()) return;
    if (process_has_some()) {
      reason = "this process has a part of a zlib, beside which the system's library cannot be used";
      return;
    }
#ifdef __APPLE__
    void* handle = open_library({"libz.1.dylib", "/usr/lib/libz.1.dylib"}, "zlib", reason);
#else
    void* handle = open_library({"libz.so.1"}, "zlib", reason);
#endif
    if (handle != nullptr && !find(handle)) reason = "the system's zlib library is not of version 1";
  }

  static const Library& get() {
    static const Library library;
    return library;
  }

 private:
  bool find(void* handle) {
    return find_function(handle, "zlibVersion", version) && find_function(handle, "inflateInit2_", init) &&
           find_function(handle, "inflate", inflate) && find_function(handle, "inflateReset", reset) &&
           find_function(handle, "inflateEnd", end) && version()[0] == '1';
  }

  /** A library that is opened later has its own calls bound to what the process has already, of whatever version. */
  static bool process_has_some() {
    for (const char* name : {"zlibVersion", "inflateInit2_", "inflate", "inflateReset", "inflateReset2", "inflateResetKeep",
                             "inflateEnd"}) {
      if (dlsym(RTLD_DEFAULT, name) != nullptr) return true;
    }
    return false;
  }

  /** Among all that the process has loaded, each name may be found in another place. */
  bool of_one_library() const {
    Dl_info first, other;
    if (dladdr(reinterpret_cast<void*>(inflate), &first) == 0) return false;
    for (void* function : {reinterpret_cast<void*>(version), reinterpret_cast<void*>(init),
                           reinterpret_cast<void*>(reset), reinterpret_cast<void*>(end)}) {
      if (dladdr(function, &other) == 0 || other.dli_fbase != first.dli_fbase) return false;
    }
    return true;
  }
};

/** One per thread of the pool: making it costs much of what a cluster does. */
struct Decoder {
  Stream stream = {};
  bool made = false;

  ~Decoder() {
    if (made) Library::get().end(&stream);
  }

  /** Ready for a new stream, or false when there is no memory. */
  bool renew() {
    const Library& zlib = Library::get();
    if (made && zlib.reset(&stream) == kOk) return true;
    if (made) zlib.end(&stream);
    stream = {};
    made = zlib.init(&stream, kWindowBits, zlib.version(), sizeof(Stream)) == kOk;
    return made;
  }
};
thread_local Decoder decoder;

class Work final : public BytesCall {
 protected:
  void execute() override {
    if (input_.length > UINT_MAX || output_.length > UINT_MAX) return fail("4 GiB or more at once are not supported");
    if (!decoder.renew()) return fail("out of memory");
    const Library& zlib = Library::get();
    Stream& stream = decoder.stream;
    uint8_t more = 0;
    stream.next_in = input_.data;
    stream.avail_in = static_cast<unsigned>(input_.length);
    // Memory of no length may have no address, which zlib refuses.
    stream.next_out = output_.length > 0 ? output_.data : &more;
    stream.avail_out = static_cast<unsigned>(output_.length);
    int code = zlib.inflate(&stream, kFinish);
    const size_t written = output_.length - stream.avail_out;
    if (!ended(code) && stream.avail_out == 0) {
      // Full before the end was seen: a place for one byte more tells a stream that is too long from one without its end.
      stream.next_out = &more;
      stream.avail_out = 1;
      code = zlib.inflate(&stream, kFinish);
      if (stream.avail_out == 0) return too_long();
      if (code == kBufferError) code = kStreamEnd;
    }
    // Nothing of the caller's memory is remembered here.
    const char* why = stream.message;
    stream.next_in = nullptr;
    stream.next_out = nullptr;
    stream.avail_in = stream.avail_out = 0;
    if (code == kStreamEnd) return done(written);
    if (code == kBufferError || code == kOk) return fail("it ends early");
    if (code == kMemoryError) return fail("out of memory");
    fail(why != nullptr ? why : "it is not a deflate stream");
  }

 private:
  static bool ended(int code) { return code == kStreamEnd || code == kDataError || code == kMemoryError; }

  void too_long() { fail(("it holds more than " + std::to_string(output_.length) + " bytes").c_str()); }
};

/** inflateRaw(input, output): the number of bytes written, or what is wrong. */
napi_value inflate_raw(napi_env env, napi_callback_info info) {
  if (!Library::get().reason.empty()) {
    napi_throw_error(env, nullptr, Library::get().reason.c_str());
    return nullptr;
  }
  return (new Work)->start_with(Arguments(env, info), "blockyard:inflate");
}

/** probeInflate(): undefined when zlib is there, else why not. */
napi_value probe_inflate(napi_env env, napi_callback_info) {
  const std::string& reason = Library::get().reason;
  return reason.empty() ? nullptr : make_text(env, reason);
}

}  // namespace

void add_inflate_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "probeInflate", probe_inflate, data);
  set_function(env, exports, "inflateRaw", inflate_raw, data);
}

}  // namespace blockyard
