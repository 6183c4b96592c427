// The front end of an engine: takes submissions from shared memory, checks them, feeds the backend, and hands
// completions to JavaScript in batches. Lives on the thread of its environment.
#pragma once
#include <node_api.h>

#include <memory>

#include "backend.h"
#include "environment.h"
#include "ring.h"
#include "uv_loop.h"

namespace blockyard {

class Front final : public Sink {
 public:
  /** Returns null and sets `reason` when the event loop cannot be joined. */
  static Front* create(napi_env env, std::unique_ptr<Backend> backend, std::shared_ptr<Environment> environment,
                       napi_value shared, void* memory, napi_value on_completions, std::string& reason);
  int32_t id() const { return id_; }

  void reference();
  void cancel(uint32_t slot);
  /** For memory that is not in the table of buffers; null when the slot is in flight or does not exist. */
  Request* stage(uint32_t slot);
  /** Only when nothing is in flight; the object deletes itself once its handles are closed. */
  bool close();

  void finished(uint32_t slot, int32_t result) override;

 private:
  Front(napi_env env, std::unique_ptr<Backend> backend, std::shared_ptr<Environment> environment, void* memory);
  ~Front();

  static void on_poll(UvHandle* handle, int status, int events);
  static void on_prepare(UvHandle* handle);
  static void on_closed(UvHandle* handle);
  static void on_cleanup(napi_async_cleanup_hook_handle hook, void* self);

  /** Whether there was anything. */
  bool take();
  bool check(const Entry& entry, Request& request) const;
  void pump(bool woken);
  bool deliver();
  void drain();
  void close_handles();

  napi_env env_;
  const Uv* uv_ = nullptr;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<Environment> environment_;
  int32_t id_ = -1;
  Shared shared_;
  std::unique_ptr<Request[]> requests_;
  uint32_t in_flight_ = 0;
  uint32_t completions_ = 0;
  bool pumping_ = false;
  bool unsent_ = false;  // the backend was given something that has not been entered
  bool closing_ = false;
  bool dead_ = false;  // JavaScript can no longer be called
  int open_handles_ = 0;
  UvHandle* poll_ = nullptr;
  UvHandle* prepare_ = nullptr;
  napi_ref shared_ref_ = nullptr;
  napi_ref callback_ = nullptr;
  napi_async_context context_ = nullptr;
  napi_async_cleanup_hook_handle hook_ = nullptr;
};

}  // namespace blockyard
