// The descriptor that tells the event loop that something has finished: an eventfd, or a pipe where there is none.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

namespace blockyard {

class Wake {
 public:
  Wake() {
#ifdef __linux__
    read_ = write_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
    int ends[2];
    if (pipe(ends) != 0) return;
    for (int end : ends) {
      fcntl(end, F_SETFD, FD_CLOEXEC);
      fcntl(end, F_SETFL, O_NONBLOCK);
    }
    read_ = ends[0];
    write_ = ends[1];
#endif
  }
  ~Wake() {
    if (read_ >= 0) close(read_);
    if (write_ >= 0 && write_ != read_) close(write_);
  }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  int fd() const { return read_; }
  bool ok() const { return read_ >= 0; }
  void signal() {
    const uint64_t one = 1;
    // Full means already readable.
    [[maybe_unused]] ssize_t ignored = write(write_, &one, sizeof one);
  }
  void clear() {
    uint64_t sink[8];
    while (read(read_, sink, sizeof sink) == static_cast<ssize_t>(sizeof sink)) {
    }
  }
  void wait() {
    pollfd one{read_, POLLIN, 0};
    poll(&one, 1, -1);
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

}  // namespace blockyard
