/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1 with devices whose memory is the
 * host's: tests of the runtime run against it where there is no GPU. Launches of the library's
 * kernels are computed by the CPU path from what the tensor maps and arguments say; they show that
 * those are right, not that the kernels are.
 */
#ifndef MXQ_TESTS_FAKE_H
#define MXQ_TESTS_FAKE_H

#include <cuda.h>
#include <stddef.h>

enum { fake_devices_max = 8 };

struct CUctx_st {
  int device;
};

struct CUstream_st {
  CUcontext context;
  CUgraph capture; /* NULL: none */
};

struct CUkern_st {
  char symbol[128];
};

/* What a launch, copy or fill does later. */
struct fake_operation {
  CUkernel kernel; /* NULL: a copy */
  CUdeviceptr to, from;
  size_t bytes;
  unsigned grid;
  unsigned char arguments[1024] __attribute__((aligned(128)));
};

struct CUgraph_st {
  struct fake_operation *operations;
  size_t count, room;
};

/* The context that is current for the thread. */
CUcontext fake_current(void);
/* For the tables of what the process has. */
void fake_lock(void);
void fake_unlock(void);
/* The device that an address lies on, -1 for host memory. */
int fake_device_of(CUdeviceptr address);
/* Does it, or adds it to the capture of the stream. */
CUresult fake_enqueue(CUstream stream, const struct fake_operation *operation);
CUresult fake_do(const struct fake_operation *operation);

#endif
