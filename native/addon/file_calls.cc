#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "async_call.h"
#include "file_calls.h"
#include "values.h"

namespace blockyard {

namespace {

int64_t open_file(FileCall& call) {
  const int flags = static_cast<int>(call.in[0]) | O_CLOEXEC;
  const auto mode = static_cast<mode_t>(call.in[1]);
  return retry([&] { return open(call.path.c_str(), flags, mode); });
}

int64_t close_file(FileCall& call) {
  // After EINTR the descriptor is closed all the same (Linux): a second close could hit another file.
  return close(call.fd()) == 0 || errno == EINTR ? 0 : -errno;
}

int64_t truncate_file(FileCall& call) {
  return retry([&] { return ftruncate(call.fd(), static_cast<off_t>(call.in[1])); });
}

int64_t sync_file(FileCall& call) {
#ifdef __APPLE__
  // fsync alone leaves the data in the drive's cache there.
  if (retry([&] { return fcntl(call.fd(), F_FULLFSYNC); }) == 0) return 0;
#else
  if (call.in[1] != 0) return retry([&] { return fdatasync(call.fd()); });
#endif
  return retry([&] { return fsync(call.fd()); });
}

constexpr FileFunction kFunctions[kFileOperations] = {
    open_file,      close_file, file_status, block_device, scsi_generic,  block_discard, block_zero_out, fallocate_file,
    seek_file,      copy_range, clone_range, truncate_file, sync_file,    lock_file,     test_lock,
};

class Work final : public AsyncCall {
 public:
  int operation = 0;
  FileCall call;

 protected:
  void execute() override { value_ = kFunctions[operation](call); }

  /** A number, or an array of numbers where the call tells several. */
  napi_value result(napi_env env) override {
    if (value_ < 0 || call.outs == 0) return make_number(env, static_cast<double>(value_));
    napi_value array = nullptr;
    if (napi_create_array(env, &array) != napi_ok) return nullptr;
    uint32_t at = 0;
    if (!call.text.empty()) napi_set_element(env, array, at++, make_text(env, call.text));
    for (int i = 0; i < call.outs; i++) napi_set_element(env, array, at++, make_number(env, call.out[i]));
    return array;
  }

  void abandoned() override {
    if (operation == kOpen && value_ >= 0) close(static_cast<int>(value_));
  }

 private:
  int64_t value_ = -ECANCELED;
};

/** fileCall(operation, path, ...numbers): a promise of the result or a negative errno. */
napi_value file_call(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const int operation = arguments.integer(0);
  if (operation < 0 || operation >= kFileOperations) {
    napi_throw_range_error(env, nullptr, "no such file operation");
    return nullptr;
  }
  auto* work = new Work;
  work->operation = operation;
  if (operation == kOpen) work->call.path = arguments.text(1);
  for (int i = 0; i < FileCall::kNumbers; i++) {
    work->call.in[i] = static_cast<int64_t>(arguments.number(static_cast<size_t>(2 + i)));
  }
  return work->start(env, "blockyard:file");
}

}  // namespace

void add_file_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "fileCall", file_call, data);
}

}  // namespace blockyard
