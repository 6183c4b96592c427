// Linux AIO by its system calls: asynchronous for O_DIRECT only; on buffered files io_submit itself does the work.
#ifdef __linux__
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "backend.h"

namespace blockyard {

namespace {

class Aio final : public Backend {
 public:
  /** The kernel takes tens of milliseconds for it, and nothing is in flight: not on this thread. */
  ~Aio() override {
    if (context_ == 0) return;
    const aio_context_t context = context_;
    try {
      std::thread([context] { syscall(__NR_io_destroy, context); }).detach();
    } catch (const std::system_error&) {
      syscall(__NR_io_destroy, context);
    }
  }

  std::string setup() {
    if (!wake_.ok()) return "no descriptor for the engine: " + describe(errno);
    for (unsigned events : {kSlots, 128U, 16U}) {
      if (syscall(__NR_io_setup, events, &context_) == 0) return "";
      context_ = 0;
      if (errno != EAGAIN && errno != ENOMEM) break;
    }
    const std::string said = describe(errno);
    if (errno == EAGAIN) return said + ": the system's limit of AIO requests (fs.aio-max-nr) is used up";
    if (errno == ENOSYS || errno == EPERM) return said + ": Linux AIO is not in this kernel or is forbidden here";
    return said;
  }

  void queue(Request& request) override {
    iocb& block = blocks_[request.slot];
    block = {};
    block.aio_data = request.slot;
    block.aio_fildes = static_cast<uint32_t>(request.fd);
    block.aio_flags = IOCB_FLAG_RESFD;
    block.aio_resfd = static_cast<uint32_t>(wake_.fd());
    if (request.op == kSync) {
      block.aio_lio_opcode = request.data_only ? IOCB_CMD_FDSYNC : IOCB_CMD_FSYNC;
    } else {
      block.aio_lio_opcode = request.op == kRead ? IOCB_CMD_PREADV : IOCB_CMD_PWRITEV;
      block.aio_buf = reinterpret_cast<uint64_t>(request.iov());
      block.aio_nbytes = static_cast<uint64_t>(request.count());
      block.aio_offset = request.position;
    }
    waiting_.push_back(&block);
  }

  void enter(Sink& sink) override {
    while (!waiting_.empty()) {
      const long accepted = syscall(__NR_io_submit, context_, waiting_.size(), waiting_.data());
      if (accepted > 0) {
        waiting_.erase(waiting_.begin(), waiting_.begin() + accepted);
        in_kernel_ += static_cast<size_t>(accepted);
      } else if (accepted < 0 && errno == EINTR) {
        continue;
      } else if (accepted < 0 && errno == EAGAIN) {
        // The context is full: its completions will wake us. Without any, the kernel is short of memory.
        if (in_kernel_ == 0) wake_.signal();
        return;
      } else {
        // The first one is at fault.
        const int error = accepted < 0 ? errno : EIO;
        const auto slot = static_cast<uint32_t>(waiting_.front()->aio_data);
        waiting_.erase(waiting_.begin());
        sink.finished(slot, -error);
      }
    }
  }

  bool reap(Sink& sink, uint32_t most) override { return collect(sink, 0, std::min<long>(most, kBatch)); }

  void cancel(Request& request) override {
    iocb* block = &blocks_[request.slot];
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (*it != block) continue;
      waiting_.erase(it);
      cancelled_.push_back(request.slot);
      wake_.signal();
      return;
    }
    // Disks do not cancel; where it works the event is delivered as always.
    io_event ignored;
    syscall(__NR_io_cancel, context_, block, &ignored);
  }

  void wait(Sink& sink) override {
    enter(sink);
    collect(sink, in_kernel_ != 0 && cancelled_.empty() ? 1 : 0, kBatch);
  }

 private:
  /** At least and at most so many; true when there may be more. */
  bool collect(Sink& sink, long least, long most) {
    for (uint32_t slot : std::exchange(cancelled_, {})) sink.finished(slot, -ECANCELED);
    if (in_kernel_ == 0) return false;
    long count;
    do {
      count = syscall(__NR_io_getevents, context_, least, most, events_, nullptr);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    in_kernel_ -= static_cast<size_t>(count);
    for (long i = 0; i < count; i++) {
      sink.finished(static_cast<uint32_t>(events_[i].data), static_cast<int32_t>(events_[i].res));
    }
    // There may be room now for what the full context refused.
    if (!waiting_.empty()) enter(sink);
    return count == most;
  }

  static constexpr long kBatch = 256;
  aio_context_t context_ = 0;
  iocb blocks_[kSlots] = {};
  io_event events_[kBatch] = {};
  std::vector<iocb*> waiting_;
  std::vector<uint32_t> cancelled_;
  size_t in_kernel_ = 0;
};

}  // namespace

Setup make_aio() {
  auto aio = std::make_unique<Aio>();
  std::string reason = aio->setup();
  if (!reason.empty()) return {nullptr, std::move(reason)};
  return {std::move(aio), ""};
}

}  // namespace blockyard
#else
#include "backend.h"

namespace blockyard {
Setup make_aio() { return {nullptr, "Linux AIO is a feature of Linux"}; }
}  // namespace blockyard
#endif
