/* SPDX-License-Identifier: MIT */
#ifndef MXQ_STATUS_H
#define MXQ_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MXQ_STATIC) || !defined(__GNUC__)
#define MXQ_API
#else
#define MXQ_API __attribute__((visibility("default")))
#endif

/* Every status: ROW(ENUMERATOR, number, "what it means"). Numbers are part of the ABI. */
#define MXQ_STATUS_TABLE(ROW)                                                                     \
  ROW(OK, 0, "success")                                                                           \
  ROW(INVALID_ARGUMENT, 1, "an argument is outside of what the function allows")                  \
  ROW(UNKNOWN_NAME, 2, "a name has a part that is no token of its axis")                          \
  ROW(REFUSED, 3, "a rule refuses the combination of axis values")                                \
  ROW(UNSUPPORTED, 4,                                                                             \
      "the shape, strides, pointers or device are legal, but no kernel takes them")               \
  ROW(OUT_OF_MEMORY, 5, "the allocator or the device returned no memory")                         \
  ROW(NO_DRIVER, 6, "libcuda.so.1 is missing, too old or does not start")                         \
  ROW(NO_NVRTC, 7, "no usable NVRTC was found")                                                   \
  ROW(NO_DEVICE, 8, "there is no such device")                                                    \
  ROW(COMPILE_FAILED, 9, "NVRTC refused the source")                                              \
  ROW(DRIVER_ERROR, 10, "a CUDA driver call failed")                                              \
  ROW(NOT_READY, 11, "a kernel would have to be loaded while the stream captures")                \
  ROW(NOT_PREBUILT, 12, "the kernel is in no registered set or cache, and compiling is off")      \
  ROW(FORKED, 13, "the process is the child of a fork that followed the first use of the driver") \
  ROW(IO_ERROR, 14, "a file could not be read or written")                                        \
  ROW(TEMPLATE_ERROR, 15, "a kernel template could not be expanded")                              \
  ROW(INTERNAL, 16, "a fault of the library itself")

#define MXQ_STATUS_ENUMERATOR(NAME, number, text) MXQ_##NAME = number,
enum mxq_status { MXQ_STATUS_TABLE(MXQ_STATUS_ENUMERATOR) MXQ_STATUS_FORCE_INT = 0x7fffffff };
#undef MXQ_STATUS_ENUMERATOR

/* The name of a status, such as "MXQ_UNSUPPORTED"; "MXQ_STATUS_UNKNOWN" for another number.
 * Never NULL, never freed. */
MXQ_API const char *mxq_status_name(enum mxq_status status);

/* What the last failing call of this thread was given, what is allowed and what to do, in one or
 * more lines without a final newline. Empty before the first failure; a success leaves it as it
 * is. Valid until the thread's next failing call. Never NULL. */
MXQ_API const char *mxq_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
