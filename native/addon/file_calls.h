// System calls on files: one function per call, run on the pool, with numbers in and numbers out.
#pragma once
#include <cerrno>
#include <cstdint>
#include <string>

namespace blockyard {

struct FileCall {
  static constexpr int kNumbers = 5;
  static constexpr int kOut = 9;
  int64_t in[kNumbers] = {};
  std::string path;
  std::string text;  // told before the numbers, when there is one
  double out[kOut] = {};
  int outs = 0;

  int fd() const { return static_cast<int>(in[0]); }
};

/** The result, or a negative errno. */
using FileFunction = int64_t (*)(FileCall&);

// Order is the interface: src/files.ts has the same names in the same order.
enum FileOperation {
  kOpen, kClose, kStatus, kBlockDevice, kScsiGeneric, kBlockDiscard, kBlockZeroOut, kFallocate, kSeek,
  kCopyRange, kCloneRange, kTruncate, kSyncFile, kLock, kTestLock, kFileOperations,
};

/** -errno when negative; calls again after EINTR. */
template <typename Call>
int64_t retry(Call call) {
  int64_t result;
  do result = static_cast<int64_t>(call());
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

int64_t file_status(FileCall& call);
int64_t block_device(FileCall& call);
int64_t scsi_generic(FileCall& call);
int64_t block_discard(FileCall& call);
int64_t block_zero_out(FileCall& call);
int64_t lock_file(FileCall& call);
int64_t test_lock(FileCall& call);
int64_t fallocate_file(FileCall& call);
int64_t seek_file(FileCall& call);
int64_t copy_range(FileCall& call);
int64_t clone_range(FileCall& call);

}  // namespace blockyard
