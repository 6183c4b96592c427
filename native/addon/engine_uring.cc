// io_uring by its system calls. How the ring is set up is in uring_setup.cc.
#ifdef __linux__
#include <cerrno>

#include "uring.h"

namespace blockyard {

namespace {

constexpr uint64_t kCancelData = ~0ULL;

class Uring final : public Backend {
 public:
  /** Empty when it works, else why not. */
  std::string setup() {
    if (!wake_.ok()) return "no descriptor for the engine: " + describe(errno);
    return ring_.setup(wake_.fd());
  }

  void queue(Request& request) override {
    io_uring_sqe sqe{};
    sqe.fd = request.fd;
    sqe.user_data = request.slot;
    if (request.op == kSync) {
      sqe.opcode = IORING_OP_FSYNC;
      sqe.fsync_flags = request.data_only ? IORING_FSYNC_DATASYNC : 0;
    } else {
      const bool vector = request.count() != 1;
      const bool reading = request.op == kRead;
      sqe.opcode = vector ? (reading ? IORING_OP_READV : IORING_OP_WRITEV) : (reading ? IORING_OP_READ : IORING_OP_WRITE);
      sqe.addr = reinterpret_cast<uint64_t>(vector ? request.iov() : request.iov()->iov_base);
      sqe.len = vector ? static_cast<uint32_t>(request.count()) : static_cast<uint32_t>(request.iov()->iov_len);
      sqe.off = static_cast<uint64_t>(request.position);
    }
    push(sqe);
  }

  void enter(Sink& sink) override {
    do {
      ring_.fill(overflow_);
      if (!ring_.enter(0)) {
        const int error = errno;
        if (error == EBUSY) {
          reap(sink, kSlots);  // the completion ring is full
        } else if (error == EINTR || error == EAGAIN || error == ENOMEM) {
          wake_.signal();  // not now: again in the next turn
          return;
        } else {
          refuse(sink, error);
        }
      }
    } while (!overflow_.empty());
  }

  uint32_t ready() const override { return ring_.ready(); }

  bool reap(Sink& sink, uint32_t most) override {
    io_uring_cqe cqe;
    for (; most != 0 && ring_.pop(cqe); most--) {
      if (cqe.user_data != kCancelData) sink.finished(static_cast<uint32_t>(cqe.user_data), cqe.res);
    }
    return most == 0;
  }

  void cancel(Request& request) override {
    io_uring_sqe sqe{};
    sqe.opcode = IORING_OP_ASYNC_CANCEL;
    sqe.fd = -1;
    sqe.addr = request.slot;
    sqe.user_data = kCancelData;
    push(sqe);
  }

  void wait(Sink& sink) override {
    ring_.fill(overflow_);
    ring_.enter(1);
    reap(sink, kSlots);
  }

 private:
  void push(const io_uring_sqe& sqe) {
    if (!overflow_.empty() || !ring_.push(sqe)) overflow_.push_back(sqe);
  }

  /** The kernel takes nothing any more: what it has not taken fails, instead of waiting for ever. */
  void refuse(Sink& sink, int error) {
    io_uring_sqe sqe;
    while (ring_.take_back(sqe)) overflow_.push_front(sqe);
    for (; !overflow_.empty(); overflow_.pop_front()) {
      const uint64_t data = overflow_.front().user_data;
      if (data != kCancelData) sink.finished(static_cast<uint32_t>(data), -error);
    }
  }

  Ring ring_;
  std::deque<io_uring_sqe> overflow_;  // what the submission ring had no room for
};

}  // namespace

Setup make_uring() {
  auto uring = std::make_unique<Uring>();
  std::string reason = uring->setup();
  if (!reason.empty()) return {nullptr, std::move(reason)};
  return {std::move(uring), ""};
}

}  // namespace blockyard
#else
#include "backend.h"

namespace blockyard {
Setup make_uring() { return {nullptr, "io_uring is a feature of Linux"}; }
}  // namespace blockyard
#endif
