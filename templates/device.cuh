// Device primitives that all kernels share; those that some kernels need are pieces of their own,
// device_*.cuh. Everything else is plain C++ on top of these functions.

// Bytes moved in one access.
struct alignas(8) words2 {
  unsigned word[2];
};
struct alignas(16) words4 {
  unsigned word[4];
};

#ifdef __CUDACC__

#define MXQ_KERNEL(name, threads, blocks_per_sm) \
  extern "C" __global__ void __launch_bounds__(threads, blocks_per_sm) name
#define MXQ_ARGS(type) const __grid_constant__ type
#define MXQ_FN static __device__ __forceinline__

// All shared memory is one array, addressed by byte offsets. 1024: the period of the swizzle.
extern __shared__ __align__(1024) unsigned char shared_memory[];

// For instructions that take an address of the shared window.
MXQ_FN unsigned shared_address(unsigned offset) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + offset;
}

MXQ_FN unsigned thread_id() { return threadIdx.x; }
MXQ_FN unsigned block_id() { return blockIdx.x; }
MXQ_FN unsigned grid_size() { return gridDim.x; }

// bar.sync: orders the shared and global accesses of the block's threads before and after it.
MXQ_FN void block_sync() { __syncthreads(); }

// At `offset` and `apart` more, a constant that the instruction holds: unlike a sum of unsigned numbers,
// which the compiler may not take apart, and adds in an instruction of its own.
template <class T>
MXQ_FN T shared_load(unsigned offset, unsigned apart = 0) {
  return *reinterpret_cast<const T *>(shared_memory + offset + apart);
}
template <class T>
MXQ_FN void shared_store(unsigned offset, T value, unsigned apart = 0) {
  *reinterpret_cast<T *>(shared_memory + offset + apart) = value;
}
template <class T>
MXQ_FN T global_load(const T *pointer) {
  return *pointer;
}
template <class T>
MXQ_FN void global_store(T *pointer, T value) {
  *pointer = value;
}

// shfl.sync.bfly: the value of the lane whose number differs by `mask`; the whole warp takes part.
MXQ_FN unsigned shuffle_xor(unsigned value, unsigned mask) {
  return __shfl_xor_sync(0xFFFFFFFF, value, mask);
}

MXQ_FN unsigned float_bits(float x) { return __float_as_uint(x); }
MXQ_FN float bits_float(unsigned bits) { return __uint_as_float(bits); }
MXQ_FN unsigned multiply_high(unsigned a, unsigned b) { return __umulhi(a, b); }

// mul.rn.f32: never part of a fused multiply-add; a NaN is 0x7FFFFFFF.
MXQ_FN float multiply(float a, float b) { return __fmul_rn(a, b); }
// min.f32: the smaller; the other if one is NaN.
MXQ_FN float min_number(float a, float b) { return fminf(a, b); }
MXQ_FN float magnitude(float x) { return fabsf(x); }

// max.NaN: the larger magnitude, NaN if either is NaN.
MXQ_FN float max_magnitude(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(fabsf(a)), "f"(fabsf(b)));
  return larger;
}
// prmt.b32: four of the eight bytes of a (0 to 3) and b (4 to 7); a nibble of `selector` picks each.
MXQ_FN unsigned permute_bytes(unsigned a, unsigned b, unsigned selector) {
  return __byte_perm(a, b, selector);
}
// prmt.b32: the same, with the top bit of each of these bytes in all of its bits.
MXQ_FN unsigned permute_signs(unsigned a, unsigned b, unsigned selector) {
  unsigned signs;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(signs) : "r"(a), "r"(b), "r"(selector | 0x8888));
  return signs;
}

#endif
