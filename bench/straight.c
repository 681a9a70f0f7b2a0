/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "compile.h"
#include "status.h"
#include "straight_source.h"

enum { compiled_max = 64, known_max = 256, word_bytes = 16 };

/* Of one thread: a few words in flight are enough, which is best depends on the ratio. */
static const struct {
  unsigned threads, times;
} tries[] = {{128, 1}, {256, 1}, {512, 1}, {128, 2}, {256, 2}, {512, 2}};

/* Which try was best for a traffic. */
struct known {
  uint64_t read, written;
  size_t index;
};

struct bench_straights {
  int device;
  const struct mxq_arch *arch;
  struct mxq_nvrtc nvrtc;
  struct bench_straight made[compiled_max];
  size_t count;
  struct known known[known_max];
  size_t known_count;
};

/* The ratio of bytes read and data written, in small whole numbers. */
static void choose_ratio(const struct bench_buffers *buffers, struct bench_straight *straight) {
  const uint64_t in = buffers->bytes.in;
  const uint64_t out = buffers->bytes.out[0] + buffers->bytes.out[1];
  straight->reads = in > out ? (unsigned)((in + out / 2) / out) : 1;
  straight->writes = out > in ? (unsigned)((out + in / 2) / in) : 1;
  if (straight->reads > 8) straight->reads = 8;
}

static enum mxq_status compile(const struct bench_straights *straights,
                               const struct bench_straight *wanted, struct mxq_compiled *compiled) {
  char name[64], source[sizeof straight_source + 128];
  snprintf(name, sizeof name, "straight-%ux%u-%u", wanted->reads, wanted->writes, wanted->threads);
  snprintf(source, sizeof source, "#define THREADS %u\n#define READS %u\n#define WRITES %u\n%s",
           wanted->threads, wanted->reads, wanted->writes, (const char *)straight_source);
  return mxq_compile(&mxq_allocator_default, &straights->nvrtc, source, name, straights->arch,
                     MXQ_COMPILE_CUBIN, compiled);
}

static enum mxq_status make(struct bench_straights *straights, struct bench_straight *wanted) {
  struct mxq_compiled compiled = {0};
  MXQ_FAIL_IF(straights->count == compiled_max, MXQ_INTERNAL, "more than %d straight kernels",
              compiled_max);
  MXQ_TRY(compile(straights, wanted, &compiled));
  const enum mxq_status status =
      mxq_raw_kernel_load(straights->device, compiled.code, "straight", &wanted->kernel);
  mxq_free(&mxq_allocator_default, compiled.code);
  if (status == MXQ_OK) straights->made[straights->count++] = *wanted;
  return status;
}

enum mxq_status bench_straights_create(const struct mxq_device_info *info,
                                       struct bench_straights **straights) {
  struct mxq_nvrtc_search search = {0};
  struct bench_straights *made = calloc(1, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for straight kernels");
  made->device = info->ordinal;
  enum mxq_status status = mxq_arch_of_device(info->major, info->minor, &made->arch);
  if (status == MXQ_OK) status = mxq_nvrtc_search_read(&mxq_allocator_default, NULL, &search);
  if (status == MXQ_OK) status = mxq_nvrtc_open(&search, &made->nvrtc);
  mxq_nvrtc_search_free(&mxq_allocator_default, &search);
  if (status == MXQ_OK)
    *straights = made;
  else
    free(made);
  return status;
}

void bench_straights_destroy(struct bench_straights *straights) {
  if (!straights) return;
  for (size_t i = 0; i < straights->count; i++) mxq_raw_kernel_unload(straights->made[i].kernel);
  free(straights);
}

const struct mxq_nvrtc *bench_straights_nvrtc(const struct bench_straights *straights) {
  return &straights->nvrtc;
}

enum mxq_status bench_straight_at(struct bench_straights *straights,
                                  const struct bench_buffers *buffers, size_t index,
                                  const struct bench_straight **straight) {
  struct bench_straight wanted = {0};
  *straight = NULL;
  if (index >= sizeof tries / sizeof tries[0]) return MXQ_OK;
  choose_ratio(buffers, &wanted);
  wanted.threads = tries[index].threads;
  wanted.reads *= tries[index].times;
  wanted.writes *= tries[index].times;
  for (size_t i = 0; i < straights->count && !*straight; i++) {
    const struct bench_straight *made = &straights->made[i];
    if (made->threads == wanted.threads && made->reads == wanted.reads &&
        made->writes == wanted.writes)
      *straight = made;
  }
  if (*straight) return MXQ_OK;
  MXQ_TRY(make(straights, &wanted));
  *straight = &straights->made[straights->count - 1];
  return MXQ_OK;
}

size_t bench_straight_known(const struct bench_straights *straights,
                            const struct bench_buffers *buffers) {
  for (size_t i = 0; i < straights->known_count; i++) {
    const struct known *known = &straights->known[i];
    if (known->read == buffers->read && known->written == buffers->written) return known->index;
  }
  return SIZE_MAX;
}

void bench_straight_learn(struct bench_straights *straights, const struct bench_buffers *buffers,
                          size_t index) {
  if (straights->known_count < known_max)
    straights->known[straights->known_count++] =
        (struct known){buffers->read, buffers->written, index};
}

static uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* 16-byte words of a launch. Two parts are written as one: in a set all data lies together, and all
 * scales; scales that are read lie behind the data. */
struct words {
  uint64_t in, data, scales;
};

static struct words words_of(const struct bench_buffers *buffers) {
  return (struct words){
      .in = buffers->read / word_bytes,
      .data = (buffers->bytes.out[0] + buffers->bytes.out[1]) / word_bytes,
      .scales = (buffers->bytes.scale[0] + buffers->bytes.scale[1]) / word_bytes,
  };
}

void bench_straight_bytes(const struct bench_buffers *buffers, uint64_t *read, uint64_t *written) {
  const struct words words = words_of(buffers);
  *read = words.in * word_bytes;
  *written = (words.data + words.scales) * word_bytes;
}

enum mxq_status bench_straight_launch(const struct bench_straight *straight,
                                      const struct bench_buffers *buffers, unsigned set,
                                      mxq_stream stream) {
  const struct mxq_pointers *pointers = &buffers->pointers[set];
  const void *in = pointers->in;
  void *data = pointers->out[0], *scale = pointers->scale[0];
  struct words words = words_of(buffers);
  const uint64_t for_reads = ceil_div(words.in, (uint64_t)straight->threads * straight->reads);
  const uint64_t for_writes = ceil_div(words.data, (uint64_t)straight->threads * straight->writes);
  const uint64_t blocks = for_reads > for_writes ? for_reads : for_writes;
  unsigned per_block = (unsigned)ceil_div(words.scales, blocks);
  void *parameters[] = {&in, &data, &scale, &words.in, &words.data, &words.scales, &per_block};
  MXQ_FAIL_IF(blocks > INT32_MAX, MXQ_UNSUPPORTED, "the straight kernel has 2^31 blocks at most");
  return mxq_raw_kernel_launch(straight->kernel, (uint32_t)blocks, straight->threads, parameters,
                               stream);
}
