/* SPDX-License-Identifier: MIT
 *
 * Finding and opening NVRTC 12.9 or newer.
 */
#ifndef MXQ_NVRTC_H
#define MXQ_NVRTC_H

#include <stddef.h>

#include "memory.h"
#include "status.h"

#define MXQ_NVRTC_NEED_MAJOR 12
#define MXQ_NVRTC_NEED_MINOR 9

/* An nvrtcProgram. NVRTC's ABI has been the same since 11.1, so its header is not needed: results
 * are ints, 0 for success. */
struct mxq_nvrtc_program;

#define MXQ_NVRTC_TABLE(ROW)                                                              \
  ROW(int, nvrtcVersion, (int *major, int *minor))                                        \
  ROW(const char *, nvrtcGetErrorString, (int result))                                    \
  ROW(int, nvrtcGetNumSupportedArchs, (int *count))                                       \
  ROW(int, nvrtcGetSupportedArchs, (int *archs))                                          \
  ROW(int, nvrtcCreateProgram,                                                            \
      (struct mxq_nvrtc_program * *program, const char *source, const char *name,         \
       int header_count, const char *const *headers, const char *const *header_names))    \
  ROW(int, nvrtcDestroyProgram, (struct mxq_nvrtc_program * *program))                    \
  ROW(int, nvrtcCompileProgram,                                                           \
      (struct mxq_nvrtc_program * program, int option_count, const char *const *options)) \
  ROW(int, nvrtcGetProgramLogSize, (struct mxq_nvrtc_program * program, size_t * size))   \
  ROW(int, nvrtcGetProgramLog, (struct mxq_nvrtc_program * program, char *log))           \
  ROW(int, nvrtcGetCUBINSize, (struct mxq_nvrtc_program * program, size_t * size))        \
  ROW(int, nvrtcGetCUBIN, (struct mxq_nvrtc_program * program, char *cubin))              \
  ROW(int, nvrtcGetPTXSize, (struct mxq_nvrtc_program * program, size_t * size))          \
  ROW(int, nvrtcGetPTX, (struct mxq_nvrtc_program * program, char *ptx))

struct mxq_nvrtc {
#define MXQ_NVRTC_MEMBER(type, name, arguments) type(*name) arguments;
  MXQ_NVRTC_TABLE(MXQ_NVRTC_MEMBER)
#undef MXQ_NVRTC_MEMBER
  void *handle; /* NULL: not opened yet */
  int major, minor;
  char build_id[41]; /* of the file, in hex; empty if it has none */
  char path[4096];
};

/* Where to look, copied from configuration and environment when the context is created. NULL:
 * not set. */
struct mxq_nvrtc_search {
  char *path;        /* config or MXQ_NVRTC: this file and no other */
  char *cuda_home;   /* CUDA_HOME */
  char *cuda_path;   /* CUDA_PATH */
  char *virtual_env; /* VIRTUAL_ENV */
  char *conda;       /* CONDA_PREFIX */
  char *home;        /* HOME */
};
enum mxq_status mxq_nvrtc_search_read(const struct mxq_allocator *allocator,
                                      const char *config_path, struct mxq_nvrtc_search *search);
void mxq_nvrtc_search_free(const struct mxq_allocator *allocator, struct mxq_nvrtc_search *search);

/* Opens `search->path` if it is set. Otherwise, of a copy that the process has loaded already, the
 * loader's path, CUDA_HOME, CUDA_PATH, /usr/local/cuda, and NVIDIA's Python packages (in
 * VIRTUAL_ENV, CONDA_PREFIX, beside this library, in a .venv at most two folders above it, in the
 * user's and the system's site-packages): the newest whose major version is not above the
 * driver's, where there is a driver. Its libnvrtc-builtins is loaded first, from the same folder.
 * MXQ_NO_NVRTC names what was found and what is needed. Never closed again. */
enum mxq_status mxq_nvrtc_open(const struct mxq_nvrtc_search *search, struct mxq_nvrtc *nvrtc);

#endif
