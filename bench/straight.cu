// SPDX-License-Identifier: MIT
//
// The limit that kernels are compared with: plain 16-byte loads and stores, coalesced, each byte
// once, one small thread block after the other. THREADS, READS and WRITES (16-byte words of a
// thread) are defined by the benchmark; their ratio is that of the variant's input and data.

extern "C" __global__ void __launch_bounds__(THREADS)
    straight(const uint4 *in, uint4 *data, uint4 *scales, unsigned long long in_words,
             unsigned long long data_words, unsigned long long scale_words,
             unsigned scale_words_per_block) {
  const unsigned long long block = blockIdx.x;
  const unsigned thread = threadIdx.x;
  uint4 word[READS];
  for (unsigned i = 0; i < READS; i++) {
    const unsigned long long at = (block * READS + i) * THREADS + thread;
    word[i] = at < in_words ? in[at] : uint4{0, 0, 0, 0};
  }
  // Every store depends on every load, so that none can be left out.
  uint4 mixed = word[0];
  for (unsigned i = 1; i < READS; i++) {
    mixed.x ^= word[i].x;
    mixed.y ^= word[i].y;
    mixed.z ^= word[i].z;
    mixed.w ^= word[i].w;
  }
  for (unsigned i = 0; i < WRITES; i++) {
    const unsigned long long at = (block * WRITES + i) * THREADS + thread;
    if (at < data_words) data[at] = mixed;
  }
  for (unsigned i = thread; i < scale_words_per_block; i += THREADS) {
    const unsigned long long at = block * scale_words_per_block + i;
    if (at < scale_words) scales[at] = mixed;
  }
}
