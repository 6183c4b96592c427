// The few functions of libuv that are needed, found in the running program. No package ships uv.h, so handles are
// opaque here: their sizes are asked from libuv itself, and the two numbers that its header would give are checked
// against the names it tells. Where any of this fails there is no loop, and the reason says so.
#pragma once
#include <string>

struct uv_loop_s;

namespace blockyard {

struct UvHandle;  // uv_handle_t, never looked into

struct Uv {
  using Callback = void (*)(UvHandle*);
  using PollCallback = void (*)(UvHandle*, int status, int events);

  int (*poll_init)(uv_loop_s*, UvHandle*, int fd);
  int (*poll_start)(UvHandle*, int events, PollCallback);
  int (*prepare_init)(uv_loop_s*, UvHandle*);
  int (*prepare_start)(UvHandle*, Callback);
  void (*close)(UvHandle*, Callback);
  void (*ref)(UvHandle*);
  void (*unref)(UvHandle*);
  void* (*get_data)(const UvHandle*);
  void (*set_data)(UvHandle*, void*);

  /** Zeroed memory for a handle. */
  UvHandle* make_poll() const;
  UvHandle* make_prepare() const;

  static constexpr int kReadable = 1;
  /** Null when the program has no libuv 1.x that looks as expected. */
  static const Uv* get();

 private:
  size_t (*handle_size)(int type);
  friend struct UvLoader;
};

}  // namespace blockyard
