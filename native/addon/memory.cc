// Addresses and properties of memory that V8 owns, and the zero scan over it.
#include <sys/mman.h>
#include <unistd.h>

#include "values.h"
#include "zero_scan.h"

namespace blockyard {

namespace {

/** address(view): where its first byte is; exact, since addresses are below 2^53. */
napi_value address(napi_env env, napi_callback_info info) {
  Bytes bytes;
  if (!Arguments(env, info).bytes(0, bytes)) return nullptr;
  return make_number(env, static_cast<double>(reinterpret_cast<uintptr_t>(bytes.data)));
}

/** adviseHugePages(view): a wish about its whole pages; refused without harm. */
napi_value advise_huge_pages(napi_env env, napi_callback_info info) {
  Bytes bytes;
  if (!Arguments(env, info).bytes(0, bytes)) return nullptr;
#ifdef MADV_HUGEPAGE
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t start = (reinterpret_cast<uintptr_t>(bytes.data) + page - 1) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data) + bytes.length) & ~(page - 1);
  if (start < end) madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
#endif
  return nullptr;
}

/** findNonZero(view): the index, or -1. */
napi_value find_in_view(napi_env env, napi_callback_info info) {
  napi_value view = nullptr;
  size_t count = 1;
  napi_get_cb_info(env, info, &count, &view, nullptr, nullptr);
  Bytes bytes;
  if (!Arguments::get_bytes(env, view, bytes)) return nullptr;
  const size_t found = find_non_zero(bytes.data, bytes.length);
  return make_number(env, found == bytes.length ? -1 : static_cast<double>(found));
}

/** findNonZeroWith(view, instructions): the same by a chosen variant, for tests; undefined where it cannot run. */
napi_value find_with(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  Bytes bytes;
  if (!arguments.bytes(0, bytes)) return nullptr;
  const Scan scan = scan_by_name(arguments.text(1));
  if (scan == nullptr) return nullptr;
  const size_t found = scan(bytes.data, bytes.length);
  return make_number(env, found == bytes.length ? -1 : static_cast<double>(found));
}

}  // namespace

void add_memory_functions(Napi::Env env, Napi::Object exports, void* data) {
  set_function(env, exports, "address", address, data);
  set_function(env, exports, "adviseHugePages", advise_huge_pages, data);
  set_function(env, exports, "findNonZero", find_in_view, data);
  set_function(env, exports, "findNonZeroWith", find_with, data);
  exports.Set("simd", scan_name());
  exports.Set("pageSize", static_cast<double>(sysconf(_SC_PAGESIZE)));
}

}  // namespace blockyard
