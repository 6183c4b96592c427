// What block devices and SCSI generic devices say about themselves.
#include <cerrno>

#include "file_calls.h"

#ifdef __linux__
#include <linux/fs.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>

namespace blockyard {

int64_t block_device(FileCall& call) {
  uint64_t size = 0;
  int logical = 0;
  unsigned physical = 0;
  int read_only = 0;
  unsigned short rotational = 0;
  if (ioctl(call.fd(), BLKGETSIZE64, &size) != 0 || ioctl(call.fd(), BLKSSZGET, &logical) != 0) return -errno;
  if (ioctl(call.fd(), BLKPBSZGET, &physical) != 0) physical = static_cast<unsigned>(logical);
  if (ioctl(call.fd(), BLKROGET, &read_only) != 0) read_only = 0;
  call.out[0] = static_cast<double>(size);
  call.out[1] = logical;
  call.out[2] = physical;
  call.out[3] = read_only != 0;
  call.outs = 4;
  if (ioctl(call.fd(), BLKROTATIONAL, &rotational) == 0) {
    call.out[4] = rotational != 0;
    call.outs = 5;
  }
  return 0;
}

int64_t scsi_generic(FileCall& call) {
  int version = 0;
  int max_bytes = 0;
  int max_segments = 0;
  if (ioctl(call.fd(), SG_GET_VERSION_NUM, &version) != 0) return -errno;
  // On a SCSI generic device this one is in bytes, unlike on a block device.
  if (ioctl(call.fd(), BLKSECTGET, &max_bytes) != 0) max_bytes = 0;
  if (ioctl(call.fd(), SG_GET_SG_TABLESIZE, &max_segments) != 0) max_segments = 0;
  call.out[0] = max_bytes;
  call.out[1] = max_segments;
  call.outs = 2;
  return 0;
}

int64_t block_discard(FileCall& call) {
  uint64_t range[2] = {static_cast<uint64_t>(call.in[1]), static_cast<uint64_t>(call.in[2])};
  return retry([&] { return ioctl(call.fd(), BLKDISCARD, range); });
}

int64_t block_zero_out(FileCall& call) {
  uint64_t range[2] = {static_cast<uint64_t>(call.in[1]), static_cast<uint64_t>(call.in[2])};
  return retry([&] { return ioctl(call.fd(), BLKZEROOUT, range); });
}

}  // namespace blockyard

#else

namespace blockyard {
int64_t block_device(FileCall&) { return -ENOTSUP; }
int64_t scsi_generic(FileCall&) { return -ENOTSUP; }
int64_t block_discard(FileCall&) { return -ENOTSUP; }
int64_t block_zero_out(FileCall&) { return -ENOTSUP; }
}  // namespace blockyard

#endif
