// SPDX-License-Identifier: MIT
//
// Every function of the fake driver behind a wrapper that counts it, lets it fail when a test asked
// for that, and checks what is handed over. The runtime gets the wrappers.
#include <cuda.h>
#include <string.h>

#include <mutex>

#include "control.h"
#include "driver_table.h"

namespace {

enum Row {
#define FAKE_ROW(name, abi) row_##name,
  MXQ_DRIVER_TABLE(FAKE_ROW, FAKE_ROW)
#undef FAKE_ROW
};
// What cuda.h's macros make of a name must not get into it.
const char *const names[] = {
#define FAKE_ROW(name, abi) #name,
    MXQ_DRIVER_TABLE(FAKE_ROW, FAKE_ROW)
#undef FAKE_ROW
};

std::recursive_mutex lock;  // of the tables of memory and kernels

// Which functions a stream may not capture beside them.
bool is_unsafe(int row) {
  return row == row_cuMemAlloc || row == row_cuMemFree || row == row_cuLibraryLoadData ||
         row == row_cuFuncLoad || row == row_cuCtxSynchronize || row == row_cuMemcpyHtoD ||
         row == row_cuMemcpyDtoH || row == row_cuMemsetD8;
}

bool is_locked(int row) {
  return row == row_cuMemAlloc || row == row_cuMemFree || row == row_cuPointerGetAttributes ||
         row == row_cuLibraryGetKernel || row == row_cuTensorMapEncodeTiled;
}

// What gives something back does so even when it says that it failed.
bool is_release(int row) {
  return row == row_cuCtxPopCurrent || row == row_cuLibraryUnload || row == row_cuMemFree ||
         row == row_cuStreamDestroy;
}

// Checks before and notes after a call, by its arguments; nothing for most.
template <int row, typename... Arguments>
struct Watch {
  static CUresult before(Arguments...) { return CUDA_SUCCESS; }
  static void after(Arguments...) {}
};

template <typename... Arguments>
struct Watch<row_cuTensorMapEncodeTiled, Arguments...> {
  static CUresult before(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                         const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                         const cuuint32_t *steps, CUtensorMapInterleave interleave,
                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                         CUtensorMapFloatOOBfill) {
    return fake_check_encode(map, type, rank, base, dims, strides, box, steps, interleave, swizzle);
  }
  static void after(Arguments...) {}
};

template <typename... Arguments>
struct Watch<row_cuLaunchKernelEx, Arguments...> {
  static CUresult before(const CUlaunchConfig *config, CUfunction function, void **, void **) {
    return fake_check_launch(config, reinterpret_cast<CUkernel>(function));
  }
  static void after(Arguments...) {}
};

template <typename... Arguments>
struct Watch<row_cuKernelSetAttribute, Arguments...> {
  static CUresult before(Arguments...) { return CUDA_SUCCESS; }
  static void after(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
      fake_allow_shared(kernel, device, value);
  }
};

template <typename... Arguments>
struct Watch<row_cuLibraryLoadData, Arguments...> {
  static CUresult before(CUlibrary *, const void *image, CUjit_option *, void **, unsigned,
                         CUlibraryOption *, void **, unsigned) {
    return fake_check_image(image);
  }
  static void after(Arguments...) { fake_library_loaded(1); }
};

template <typename... Arguments>
struct Watch<row_cuLibraryUnload, Arguments...> {
  static CUresult before(Arguments...) { return CUDA_SUCCESS; }
  static void after(Arguments...) { fake_library_loaded(-1); }
};

template <auto function, int row>
struct Entry;

template <typename... Arguments, CUresult (*function)(Arguments...), int row>
struct Entry<function, row> {
  static CUresult call(Arguments... arguments) {
    CUresult result = fake_begin(row, names[row]);
    if (result != CUDA_SUCCESS && is_release(row)) {
      function(arguments...);
      Watch<row, Arguments...>::after(arguments...);
    }
    if (result == CUDA_SUCCESS && is_unsafe(row) && fake_is_capturing())
      result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == CUDA_SUCCESS) result = Watch<row, Arguments...>::before(arguments...);
    if (result != CUDA_SUCCESS) return result;
    if (is_locked(row)) lock.lock();
    result = function(arguments...);
    if (is_locked(row)) lock.unlock();
    if (result == CUDA_SUCCESS) Watch<row, Arguments...>::after(arguments...);
    return result;
  }
};

struct Function {
  const char *name;
  int version;
  void *address;
};
const Function functions[] = {
#define FAKE_ROW(name, abi) {#name, abi, reinterpret_cast<void *>(&Entry<&name, row_##name>::call)},
    MXQ_DRIVER_TABLE(FAKE_ROW, FAKE_ROW)
#undef FAKE_ROW
};

}  // namespace

// As the real one: a function that is younger than the driver is not found, and neither is one of
// another version than was asked for.
extern "C" CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
  (void)flags;
  *function = nullptr;
  for (const Function &row : functions)
    if (!strcmp(row.name, symbol) && row.version == version && version <= fake_driver_version())
      *function = row.address;
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
