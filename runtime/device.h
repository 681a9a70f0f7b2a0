/* SPDX-License-Identifier: MIT
 *
 * The little that programs and tests need of a device, without CUDA's headers. Library users bring
 * their own memory and streams.
 */
#ifndef MXQ_DEVICE_H
#define MXQ_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

struct mxq_device_info {
  int ordinal;
  char name[128];
  int major, minor;
  unsigned multiprocessors;
  uint64_t memory_bytes, l2_bytes;
  int driver_version; /* 13000: CUDA 13.0 */
};

/* 0 and MXQ_OK if the driver starts but has no device; MXQ_NO_DRIVER if it does not start. */
enum mxq_status mxq_device_count(int *count);
enum mxq_status mxq_device_describe(int device, struct mxq_device_info *info);

enum mxq_status mxq_device_allocate(int device, size_t bytes, void **pointer);
void mxq_device_free(int device, void *pointer);
/* Synchronous copies between host and device memory, in either direction, and fills. */
enum mxq_status mxq_device_upload(int device, void *to, const void *from, size_t bytes);
enum mxq_status mxq_device_download(int device, void *to, const void *from, size_t bytes);
enum mxq_status mxq_device_fill(int device, void *to, unsigned char value, size_t bytes);
enum mxq_status mxq_device_synchronize(int device);

enum mxq_status mxq_device_stream_create(int device, mxq_stream *stream);
void mxq_device_stream_destroy(int device, mxq_stream stream);
enum mxq_status mxq_device_stream_synchronize(int device, mxq_stream stream);

#endif
