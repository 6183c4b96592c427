// Allocation, holes and copies inside the kernel.
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

#include "file_calls.h"

namespace blockyard {

int64_t seek_file(FileCall& call) {
#ifdef SEEK_DATA
  const int64_t found =
      retry([&] { return lseek(call.fd(), static_cast<off_t>(call.in[2]), call.in[1] != 0 ? SEEK_HOLE : SEEK_DATA); });
  return found;
#else
  return -ENOTSUP;
#endif
}

#ifdef __linux__

int64_t fallocate_file(FileCall& call) {
  constexpr int kModes[] = {
      0,
      FALLOC_FL_KEEP_SIZE,
      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
      FALLOC_FL_ZERO_RANGE,
      FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
  };
  const int64_t mode = call.in[1];
  if (mode < 0 || mode > 4) return -EINVAL;
  return retry([&] { return fallocate(call.fd(), kModes[mode], call.in[2], call.in[3]); });
}

int64_t copy_range(FileCall& call) {
  off64_t from = call.in[1];
  off64_t to = call.in[3];
  return retry([&] {
    return copy_file_range(call.fd(), &from, static_cast<int>(call.in[2]), &to, static_cast<size_t>(call.in[4]), 0);
  });
}

int64_t clone_range(FileCall& call) {
  file_clone_range range{};
  range.src_fd = call.fd();
  range.src_offset = static_cast<uint64_t>(call.in[1]);
  range.dest_offset = static_cast<uint64_t>(call.in[3]);
  range.src_length = static_cast<uint64_t>(call.in[4]);
  return retry([&] { return ioctl(static_cast<int>(call.in[2]), FICLONERANGE, &range); });
}

#else

int64_t fallocate_file(FileCall&) { return -ENOTSUP; }
int64_t copy_range(FileCall&) { return -ENOTSUP; }
int64_t clone_range(FileCall&) { return -ENOTSUP; }

#endif

}  // namespace blockyard
