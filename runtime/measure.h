/* SPDX-License-Identifier: MIT
 *
 * What the benchmark and tests of captures need of CUDA: graphs of launches, their time, copies,
 * and kernels of their own. Nothing in the library uses it.
 */
#ifndef MXQ_MEASURE_H
#define MXQ_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

/* Enqueues the index-th launch of a sequence. */
typedef enum mxq_status (*mxq_enqueue_fn)(void *user, unsigned index, mxq_stream stream);

struct mxq_graph;

/* Captures `count` launches, one after the other, on a stream of its own. A failing launch ends the
 * capture and is what comes back. */
enum mxq_status mxq_graph_create(int device, mxq_enqueue_fn enqueue, void *user, unsigned count,
                                 struct mxq_graph **graph);
void mxq_graph_destroy(struct mxq_graph *graph);

/* Runs the whole graph and waits for it. `microseconds` (may be NULL): by the device's clock. */
enum mxq_status mxq_graph_replay(struct mxq_graph *graph, double *microseconds);

/* Between two places of one device; may be captured. */
enum mxq_status mxq_device_copy_async(int device, void *to, const void *from, size_t bytes,
                                      mxq_stream stream);

/* A kernel of the caller's own, from a cubin. */
struct mxq_raw_kernel;
enum mxq_status mxq_raw_kernel_load(int device, const void *cubin, const char *symbol,
                                    struct mxq_raw_kernel **kernel);
void mxq_raw_kernel_unload(struct mxq_raw_kernel *kernel);
enum mxq_status mxq_raw_kernel_launch(const struct mxq_raw_kernel *kernel, uint32_t grid,
                                      uint32_t threads, void **parameters, mxq_stream stream);
/* The same launch several times, with nothing but the driver's call between them. */
enum mxq_status mxq_raw_kernel_launch_many(const struct mxq_raw_kernel *kernel, uint32_t grid,
                                           uint32_t threads, void **parameters, mxq_stream stream,
                                           unsigned count);

/* Leaves the device's primary context current for the thread, as programs that use CUDA's runtime
 * have it. */
enum mxq_status mxq_device_hold(int device);

#endif
