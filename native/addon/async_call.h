// Work on libuv's pool behind a promise. The environment's end waits for it, since Node-API does.
#pragma once
#include <node_api.h>

#include <cerrno>

namespace blockyard {

class AsyncCall {
 public:
  virtual ~AsyncCall() = default;

  /** Starts it and returns the promise; the object deletes itself. */
  napi_value start(napi_env env, const char* name) {
    napi_value promise = nullptr, resource = nullptr;
    napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &resource);
    // Fails where the environment is being ended at this moment.
    if (napi_create_promise(env, &deferred_, &promise) != napi_ok ||
        napi_create_async_work(env, nullptr, resource, on_execute, on_complete, this, &work_) != napi_ok ||
        napi_queue_async_work(env, work_) != napi_ok) {
      release(env);
      if (work_ != nullptr) napi_delete_async_work(env, work_);
      delete this;
      return nullptr;
    }
    return promise;
  }

 protected:
  virtual void execute() = 0;
  virtual napi_value result(napi_env env) = 0;
  virtual void release(napi_env) {}
  /** JavaScript will never see the result: undo what would leak. */
  virtual void abandoned() {}

 private:
  static void on_execute(napi_env, void* self) { static_cast<AsyncCall*>(self)->execute(); }
  static void on_complete(napi_env env, napi_status status, void* data) {
    auto* self = static_cast<AsyncCall*>(data);
    napi_value value = status == napi_ok ? self->result(env) : nullptr;
    if (value == nullptr || napi_resolve_deferred(env, self->deferred_, value) != napi_ok) self->abandoned();
    self->release(env);
    napi_delete_async_work(env, self->work_);
    delete self;
  }

  napi_deferred deferred_ = nullptr;
  napi_async_work work_ = nullptr;
};

}  // namespace blockyard
