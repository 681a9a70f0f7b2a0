// Copies into shared memory that go on beside the thread's other work.
#ifdef __CUDACC__
// cp.async, global to shared: SIZE bytes, 4 or 16, between addresses that are multiples of SIZE. The
// first `bytes` of them are read, the rest become zeros.
template <unsigned SIZE>
MXQ_FN void copy_async(unsigned offset, const unsigned char *from, unsigned bytes) {
  const unsigned long long global = __cvta_generic_to_global(from);
  if constexpr (SIZE == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(offset)), "l"(global), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :: "r"(shared_address(offset)), "l"(global), "r"(bytes) : "memory");
}
// cp.async.wait_all: this thread's copies are there, for this thread.
MXQ_FN void copies_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif
