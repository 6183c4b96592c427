#ifdef __linux__
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "uring.h"

// Debian 12's header is older than some of these; the numbers are the kernel's interface.
#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif

namespace blockyard {

namespace {

constexpr uint32_t kOperations[] = {IORING_OP_READ,   IORING_OP_WRITE, IORING_OP_READV,
                                    IORING_OP_WRITEV, IORING_OP_FSYNC, IORING_OP_ASYNC_CANCEL};

int register_with(int fd, unsigned code, void* argument, unsigned count) {
  return static_cast<int>(syscall(__NR_io_uring_register, fd, code, argument, count));
}

std::string explain(int error) {
  const std::string said = describe(error);
  switch (error) {
    case EPERM:
    case EACCES:
      return said + ": io_uring is forbidden here (a container's seccomp filter, or the sysctl kernel.io_uring_disabled)";
    case ENOSYS:
      return said + ": this kernel has no io_uring, or a filter hides it";
    case ENOMEM:
      return said + ": the limit on locked memory (RLIMIT_MEMLOCK, ulimit -l) is too small for a ring";
    default:
      return said;
  }
}

}  // namespace

Ring::~Ring() {
  if (rings_ != nullptr) munmap(rings_, rings_bytes_);
  if (sqes_ != nullptr) munmap(sqes_, sqes_bytes_);
  if (fd_ >= 0) close(fd_);
}

/** Tries the flags from best to none, and for each a smaller ring where locked memory is short. */
int Ring::create(uint32_t entries, io_uring_params& params) {
  const unsigned choices[] = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN, 0};
  for (unsigned flags : choices) {
    params = {};
    params.flags = flags | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE;
    params.cq_entries = std::max(2 * entries, kSlots);
    const int fd = static_cast<int>(syscall(__NR_io_uring_setup, entries, &params));
    if (fd >= 0) {
      deferred_ = (flags & IORING_SETUP_DEFER_TASKRUN) != 0;
      return fd;
    }
    if (errno != EINVAL) return -1;
  }
  return -1;
}

std::string Ring::map(const io_uring_params& params) {
  if ((params.features & IORING_FEAT_SINGLE_MMAP) == 0 || (params.features & IORING_FEAT_NODROP) == 0) {
    return "this kernel's io_uring is too old (5.6 or newer is needed)";
  }
  rings_bytes_ = std::max<size_t>(params.sq_off.array + params.sq_entries * sizeof(uint32_t),
                                  params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
  void* rings = mmap(nullptr, rings_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, IORING_OFF_SQ_RING);
  if (rings == MAP_FAILED) return explain(errno);
  rings_ = rings;
  sqes_bytes_ = params.sq_entries * sizeof(io_uring_sqe);
  void* sqes = mmap(nullptr, sqes_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, IORING_OFF_SQES);
  if (sqes == MAP_FAILED) return explain(errno);
  sqes_ = static_cast<io_uring_sqe*>(sqes);

  auto word = [rings](uint32_t offset) { return reinterpret_cast<uint32_t*>(static_cast<char*>(rings) + offset); };
  entries_ = params.sq_entries;
  sq_head_ = word(params.sq_off.head);
  sq_tail_ = word(params.sq_off.tail);
  sq_array_ = word(params.sq_off.array);
  sq_mask_ = *word(params.sq_off.ring_mask);
  tail_ = *sq_tail_;
  cq_head_ = word(params.cq_off.head);
  cq_tail_ = word(params.cq_off.tail);
  cq_mask_ = *word(params.cq_off.ring_mask);
  cqes_ = reinterpret_cast<io_uring_cqe*>(word(params.cq_off.cqes));
  return "";
}

std::string Ring::probe() const {
  constexpr unsigned kOps = 64;
  alignas(io_uring_probe) unsigned char memory[sizeof(io_uring_probe) + kOps * sizeof(io_uring_probe_op)] = {};
  auto* probe = reinterpret_cast<io_uring_probe*>(memory);
  if (register_with(fd_, IORING_REGISTER_PROBE, probe, kOps) != 0) return "this kernel's io_uring is too old: " + describe(errno);
  for (uint32_t op : kOperations) {
    if (op > probe->last_op || (probe->ops[op].flags & IO_URING_OP_SUPPORTED) == 0) {
      return "this kernel's io_uring lacks operation " + std::to_string(op);
    }
  }
  return "";
}

/** After this the ring can do nothing but what it is used for, whoever gets hold of it. A kernel may refuse. */
void Ring::restrict_operations() {
  io_uring_restriction rules[std::size(kOperations) + 1] = {};
  unsigned count = 0;
  for (uint32_t op : kOperations) {
    rules[count].opcode = IORING_RESTRICTION_SQE_OP;
    rules[count++].sqe_op = static_cast<uint8_t>(op);
  }
  rules[count].opcode = IORING_RESTRICTION_REGISTER_OP;
  rules[count++].register_op = IORING_REGISTER_ENABLE_RINGS;
  register_with(fd_, IORING_REGISTER_RESTRICTIONS, rules, count);
}

std::string Ring::setup(int event_fd) {
  io_uring_params params;
  for (uint32_t entries : {512U, 64U, 8U}) {
    fd_ = create(entries, params);
    if (fd_ >= 0 || errno != ENOMEM) break;
  }
  if (fd_ < 0) return explain(errno);
  if (std::string reason = map(params); !reason.empty()) return reason;
  if (std::string reason = probe(); !reason.empty()) return reason;
  if (register_with(fd_, IORING_REGISTER_EVENTFD, &event_fd, 1) != 0) return explain(errno);
  restrict_operations();
  if (register_with(fd_, IORING_REGISTER_ENABLE_RINGS, nullptr, 0) != 0) return explain(errno);
  return "";
}

bool Ring::enter(unsigned complete) {
  std::atomic_ref(*sq_tail_).store(tail_, std::memory_order_release);
  for (int interrupted = 0;;) {
    const uint32_t waiting = tail_ - load(sq_head_);
    if (waiting == 0 && complete == 0 && !deferred_) return true;
    const unsigned flags = complete != 0 || deferred_ ? IORING_ENTER_GETEVENTS : 0;
    const long accepted = syscall(__NR_io_uring_enter, fd_, waiting, complete, flags, nullptr, 0);
    if (accepted >= 0) {
      // Fewer than asked: the kernel stopped at one that failed, and has told so in its completion.
      if (static_cast<uint32_t>(accepted) >= waiting || accepted == 0) return true;
      continue;
    }
    // Bounded, so that a process that is interrupted again and again can still act on it.
    if (errno != EINTR || ++interrupted > 16) return false;
  }
}

}  // namespace blockyard
#endif
