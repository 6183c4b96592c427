// One io_uring instance: set up, mapped, and its two rings. Used by one thread.
#pragma once
#include <linux/io_uring.h>

#include <atomic>
#include <deque>
#include <string>

#include "backend.h"

namespace blockyard {

class Ring {
 public:
  Ring() = default;
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /** Empty when it works, else why not. */
  std::string setup(int event_fd);

  bool push(const io_uring_sqe& sqe) {
    if (tail_ - load(sq_head_) >= entries_) return false;
    const uint32_t at = tail_ & sq_mask_;
    sqes_[at] = sqe;
    sq_array_[at] = at;
    tail_++;
    return true;
  }
  /** Moves what waits into the ring as far as there is room. */
  void fill(std::deque<io_uring_sqe>& waiting) {
    while (!waiting.empty() && push(waiting.front())) waiting.pop_front();
  }
  /** The last entry that the kernel has not taken, out of the ring again; false when it has taken all. */
  bool take_back(io_uring_sqe& sqe) {
    if (tail_ == load(sq_head_)) return false;
    sqe = sqes_[--tail_ & sq_mask_];
    std::atomic_ref(*sq_tail_).store(tail_, std::memory_order_release);
    return true;
  }
  /** Submits all, runs the kernel's deferred work, waits for `complete`. False with errno when nothing was accepted. */
  bool enter(unsigned complete);
  uint32_t ready() const { return load(cq_tail_) - *cq_head_; }
  bool pop(io_uring_cqe& cqe) {
    const uint32_t head = *cq_head_;
    if (head == load(cq_tail_)) return false;
    cqe = cqes_[head & cq_mask_];
    std::atomic_ref(*cq_head_).store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  static uint32_t load(uint32_t* shared) { return std::atomic_ref(*shared).load(std::memory_order_acquire); }
  int create(uint32_t entries, io_uring_params& params);
  std::string map(const io_uring_params& params);
  std::string probe() const;
  void restrict_operations();

  int fd_ = -1;
  bool deferred_ = false;
  bool disabled_ = false;
  uint32_t entries_ = 0;
  uint32_t tail_ = 0;  // ours; the kernel sees it in enter()
  uint32_t* sq_head_ = nullptr;
  uint32_t* sq_tail_ = nullptr;
  uint32_t* sq_array_ = nullptr;
  uint32_t sq_mask_ = 0;
  uint32_t* cq_head_ = nullptr;
  uint32_t* cq_tail_ = nullptr;
  uint32_t cq_mask_ = 0;
  io_uring_sqe* sqes_ = nullptr;
  io_uring_cqe* cqes_ = nullptr;
  void* rings_ = nullptr;
  size_t rings_bytes_ = 0;
  size_t sqes_bytes_ = 0;
};

}  // namespace blockyard
