// Open file description locks. They are tried, never waited for: the pool's threads are few.
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "file_calls.h"

namespace blockyard {

#ifdef F_OFD_SETLK

namespace {

struct flock lock_of(const FileCall& call) {
  constexpr short kKinds[] = {F_RDLCK, F_WRLCK, F_UNLCK};
  struct flock lock {};
  lock.l_type = kKinds[call.in[1] >= 0 && call.in[1] <= 2 ? call.in[1] : 2];
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(call.in[2]);
  lock.l_len = static_cast<off_t>(call.in[3]);
  return lock;
}

}  // namespace

int64_t lock_file(FileCall& call) {
  struct flock lock = lock_of(call);
  const int64_t result = retry([&] { return fcntl(call.fd(), F_OFD_SETLK, &lock); });
  if (result == -EAGAIN || result == -EACCES) return 0;
  return result < 0 ? result : 1;
}

int64_t test_lock(FileCall& call) {
  struct flock lock = lock_of(call);
  const int64_t result = retry([&] { return fcntl(call.fd(), F_OFD_GETLK, &lock); });
  return result < 0 ? result : lock.l_type == F_UNLCK;
}

#else

int64_t lock_file(FileCall&) { return -ENOTSUP; }
int64_t test_lock(FileCall&) { return -ENOTSUP; }

#endif

}  // namespace blockyard
