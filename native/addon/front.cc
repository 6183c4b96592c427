#include "front.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace blockyard {

namespace {
// Completions told at once. Few, so that the disk has new requests while JavaScript is busy with the next few: told all
// together they would leave it idle, and then all finish together again.
constexpr uint32_t kBatch = 4;
constexpr uint32_t kTurn = 256;  // completions before the loop serves others
constexpr int kRetries = 1000;
constexpr double kMaxPosition = 9007199254740991.0;
}  // namespace

Front::Front(napi_env env, std::unique_ptr<Backend> backend, std::shared_ptr<Environment> environment, void* memory)
    : env_(env),
      backend_(std::move(backend)),
      environment_(std::move(environment)),
      shared_(memory),
      requests_(new Request[kSlots]) {
  for (uint32_t slot = 0; slot < kSlots; slot++) requests_[slot].slot = slot;
  id_ = environment_->add(this);
}

Front::~Front() { environment_->fronts[static_cast<size_t>(id_)] = nullptr; }

Front* Front::create(napi_env env, std::unique_ptr<Backend> backend, std::shared_ptr<Environment> environment,
                     napi_value shared, void* memory, napi_value on_completions, std::string& reason) {
  const Uv* uv = Uv::get();
  uv_loop_s* loop = nullptr;
  if (uv == nullptr || napi_get_uv_event_loop(env, &loop) != napi_ok) {
    reason = "this runtime does not offer libuv's event loop to addons";
    return nullptr;
  }
  auto* front = new Front(env, std::move(backend), std::move(environment), memory);
  front->uv_ = uv;
  front->poll_ = uv->make_poll();
  front->prepare_ = uv->make_prepare();
  if (const int error = uv->poll_init(loop, front->poll_, front->backend_->wake().fd()); error != 0) {
    reason = "the event loop cannot watch the engine: " + describe(-error);
    std::free(front->poll_);
    std::free(front->prepare_);
    delete front;
    return nullptr;
  }
  uv->prepare_init(loop, front->prepare_);
  uv->set_data(front->poll_, front);
  uv->set_data(front->prepare_, front);
  uv->poll_start(front->poll_, Uv::kReadable, on_poll);
  uv->prepare_start(front->prepare_, on_prepare);
  uv->unref(front->poll_);
  uv->unref(front->prepare_);
  front->open_handles_ = 2;

  napi_value name = nullptr;
  napi_create_string_utf8(env, "blockyard:engine", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, nullptr, name, &front->context_);
  napi_create_reference(env, shared, 1, &front->shared_ref_);
  napi_create_reference(env, on_completions, 1, &front->callback_);
  napi_add_async_cleanup_hook(env, on_cleanup, front, &front->hook_);
  return front;
}

void Front::reference() {
  if (closing_ || shared_.at(kReferenced) != 0) return;
  shared_.at(kReferenced) = 1;
  uv_->ref(poll_);
}

Request* Front::stage(uint32_t slot) {
  if (closing_ || slot >= kSlots || requests_[slot].in_flight) return nullptr;
  Request& request = requests_[slot];
  request.many.clear();
  request.staged = true;
  return &request;
}

void Front::cancel(uint32_t slot) {
  if (closing_) return;
  take();  // it may still be in the ring
  if (slot >= kSlots || !requests_[slot].in_flight) return;
  unsent_ = true;
  backend_->cancel(requests_[slot]);
}

bool Front::check(const Entry& entry, Request& request) const {
  request.op = entry.op;
  request.fd = entry.fd;
  request.data_only = (entry.flags & 1) != 0;
  request.retries = 0;
  if (entry.op == kSync) return true;
  if (entry.op != kRead && entry.op != kWrite) return false;
  if (!(entry.position >= 0 && entry.position <= kMaxPosition) || std::floor(entry.position) != entry.position) {
    return false;
  }
  request.position = static_cast<int64_t>(entry.position);
  if (entry.buffer == -1) return request.staged;
  uint8_t* base = environment_->buffers.range(entry.buffer, entry.offset, entry.length);
  if (base == nullptr) return false;
  request.many.clear();
  request.one = {base, entry.length};
  return true;
}

bool Front::take() {
  if (!shared_.submitted()) return false;
  while (shared_.submitted()) {
    const uint32_t slot = shared_.take();
    if (slot >= kSlots || requests_[slot].in_flight) continue;
    Request& request = requests_[slot];
    request.in_flight = true;
    in_flight_++;
    if (check(shared_.entry(slot), request)) {
      unsent_ = true;
      backend_->queue(request);
    } else {
      finished(slot, -EINVAL);
    }
  }
  return true;
}

void Front::finished(uint32_t slot, int32_t result) {
  Request& request = requests_[slot];
  if ((result == -EINTR || result == -EAGAIN) && !dead_ && request.retries < kRetries) {
    request.retries++;
    unsent_ = true;
    backend_->queue(request);
    return;
  }
  request.in_flight = false;
  request.staged = false;
  in_flight_--;
  if (dead_) return;
  shared_.complete(slot, result);
  completions_++;
}

bool Front::deliver() {
  completions_ = 0;
  napi_handle_scope scope;
  napi_open_handle_scope(env_, &scope);
  napi_value callback = nullptr, receiver = nullptr, result = nullptr;
  napi_get_reference_value(env_, callback_, &callback);
  napi_get_global(env_, &receiver);
  napi_status status = napi_generic_failure;
  if (callback != nullptr) status = napi_make_callback(env_, context_, receiver, callback, 0, nullptr, &result);
  if (status == napi_pending_exception) {
    napi_value error = nullptr;
    if (napi_get_and_clear_last_exception(env_, &error) == napi_ok) napi_fatal_exception(env_, error);
  }
  napi_close_handle_scope(env_, scope);
  return status == napi_ok;
}

/** Submit, reap, one call into JavaScript, and again with what that call queued. */
void Front::pump(bool woken) {
  if (pumping_) return;  // JavaScript ran a loop of its own inside a callback
  pumping_ = true;
  if (woken) backend_->wake().clear();
  bool more = true;
  for (uint32_t told = 0; told < kTurn && !closing_ && !dead_;) {
    if (!shared_.submitted() && !unsent_ && !more) break;
    const bool sent = take();
    unsent_ = false;
    backend_->enter(*this);
    // What was sent has finished at once (from the page cache): there is no disk to keep busy.
    const bool all = sent && backend_->ready() >= in_flight_;
    more = backend_->reap(*this, all ? kTurn : kBatch);
    told += std::max(completions_, kBatch);
    if (completions_ != 0 && !deliver()) break;
  }
  if (unsent_ || completions_ != 0 || more) backend_->wake().signal();
  pumping_ = false;
}

void Front::on_poll(UvHandle* handle, int, int) {
  auto* self = static_cast<Front*>(Uv::get()->get_data(handle));
  if (!self->closing_ && !self->dead_) self->pump(true);
}

void Front::on_prepare(UvHandle* handle) {
  auto* self = static_cast<Front*>(Uv::get()->get_data(handle));
  if (self->closing_ || self->dead_) return;
  if (self->shared_.submitted() || self->unsent_ || self->completions_ != 0) self->pump(false);
  if (self->closing_ || self->dead_) return;
  // The rounds are over and there is more: give it to the kernel before the loop sleeps.
  if (self->shared_.submitted()) {
    self->take();
    self->unsent_ = false;
    self->backend_->enter(*self);
    if (self->unsent_ || self->completions_ != 0) self->backend_->wake().signal();
  }
  if (self->in_flight_ == 0 && self->completions_ == 0 && self->shared_.at(kReferenced) != 0) {
    self->shared_.at(kReferenced) = 0;
    self->uv_->unref(self->poll_);
  }
}

bool Front::close() {
  if (closing_) return true;
  if (in_flight_ != 0 || shared_.submitted()) return false;
  napi_delete_reference(env_, callback_);
  napi_delete_reference(env_, shared_ref_);
  napi_async_destroy(env_, context_);
  close_handles();
  return true;
}

void Front::close_handles() {
  if (closing_) return;
  closing_ = true;
  uv_->close(poll_, on_closed);
  uv_->close(prepare_, on_closed);
}

void Front::on_closed(UvHandle* handle) {
  auto* self = static_cast<Front*>(Uv::get()->get_data(handle));
  std::free(handle);
  if (--self->open_handles_ != 0) return;
  napi_remove_async_cleanup_hook(self->hook_);
  delete self;
}

/** Nothing may touch the environment's memory after it has ended, so its end waits for the kernel. */
void Front::drain() {
  for (uint32_t slot = 0; slot < kSlots; slot++) {
    if (requests_[slot].in_flight) backend_->cancel(requests_[slot]);
  }
  while (in_flight_ != 0) backend_->wait(*this);
}

void Front::on_cleanup(napi_async_cleanup_hook_handle, void* data) {
  auto* self = static_cast<Front*>(data);
  if (!self->dead_ && !self->closing_) {
    self->dead_ = true;
    self->drain();
  }
  self->dead_ = true;
  self->close_handles();
}

}  // namespace blockyard
