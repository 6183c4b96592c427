// What an engine must be able to do. The front end (front.h) does all the rest once for the three of them.
#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ring.h"
#include "wake.h"

namespace blockyard {

/** A request in native memory; its address and its vector do not move while it is in flight. */
struct Request {
  uint32_t slot = 0;
  int32_t op = 0;
  int fd = -1;
  bool data_only = false;
  bool in_flight = false;
  uint16_t retries = 0;
  int64_t position = 0;
  iovec one{};
  std::vector<iovec> many;  // used when it is not empty
  bool staged = false;

  const iovec* iov() const { return many.empty() ? &one : many.data(); }
  int count() const { return many.empty() ? 1 : static_cast<int>(many.size()); }
};

class Sink {
 public:
  virtual void finished(uint32_t slot, int32_t result) = 0;

 protected:
  ~Sink() = default;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /** Becomes readable when something has finished. */
  Wake& wake() { return wake_; }
  virtual void queue(Request& request) = 0;
  /** Gives what was queued to the kernel or to the pool, in one call where possible. */
  virtual void enter(Sink& sink) = 0;
  /** How many have finished and are not reaped, where that is known without asking the kernel. */
  virtual uint32_t ready() const { return 0; }
  /** Tells of about `most` that have finished; true when there may be more. */
  virtual bool reap(Sink& sink, uint32_t most) = 0;
  /** A wish; the request still finishes, perhaps with ECANCELED. */
  virtual void cancel(Request& request) = 0;
  /** Blocks until at least one request in flight has finished, and reaps. For the end of the environment only. */
  virtual void wait(Sink& sink) = 0;

 protected:
  Wake wake_;
};

struct Setup {
  std::unique_ptr<Backend> backend;
  std::string reason;  // why there is no backend
};

Setup make_uring();
Setup make_aio();
Setup make_threads();

/** "EPERM (Operation not permitted)". */
std::string describe(int error);

}  // namespace blockyard
