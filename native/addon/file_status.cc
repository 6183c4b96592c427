#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif

#include "file_calls.h"

// Headers before Linux 6.1 lack it; then alignment is not told.
#ifndef STATX_DIOALIGN
#define STATX_DIOALIGN 0
#endif

namespace blockyard {

namespace {

double kind_of(mode_t mode) {
  if (S_ISREG(mode)) return 0;
  if (S_ISBLK(mode)) return 1;
  if (S_ISCHR(mode)) return 2;
  return 3;
}

void tell(FileCall& call, mode_t mode, double size, double blocks, double block_size, unsigned rdev_major,
          unsigned rdev_minor, unsigned dev_major, unsigned dev_minor, uint64_t inode) {
  call.out[0] = kind_of(mode);
  call.out[1] = size;
  call.out[2] = blocks * 512;
  call.out[3] = block_size;
  call.out[4] = rdev_major;
  call.out[5] = rdev_minor;
  call.text = S_ISBLK(mode) ? "block:" + std::to_string(rdev_major) + ":" + std::to_string(rdev_minor)
                            : std::to_string(dev_major) + ":" + std::to_string(dev_minor) + ":" + std::to_string(inode);
  call.outs = 6;
}

int64_t by_fstat(FileCall& call) {
  struct stat status;
  if (fstat(call.fd(), &status) != 0) return -errno;
  tell(call, status.st_mode, static_cast<double>(status.st_size), static_cast<double>(status.st_blocks),
       static_cast<double>(status.st_blksize), major(status.st_rdev), minor(status.st_rdev), major(status.st_dev),
       minor(status.st_dev), status.st_ino);
  return 0;
}

}  // namespace

int64_t file_status(FileCall& call) {
#ifdef __linux__
  struct statx status;
  if (statx(call.fd(), "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_DIOALIGN, &status) != 0) {
    return errno == ENOSYS || errno == EPERM ? by_fstat(call) : -errno;
  }
  tell(call, status.stx_mode, static_cast<double>(status.stx_size), static_cast<double>(status.stx_blocks),
       status.stx_blksize, status.stx_rdev_major, status.stx_rdev_minor, status.stx_dev_major, status.stx_dev_minor,
       status.stx_ino);
#if STATX_DIOALIGN
  if ((status.stx_mask & STATX_DIOALIGN) != 0) {
    call.out[6] = status.stx_dio_mem_align;
    call.out[7] = status.stx_dio_offset_align;
    call.outs = 8;
  }
#endif
  return 0;
#else
  return by_fstat(call);
#endif
}

}  // namespace blockyard
