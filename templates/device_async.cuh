// Copies into shared memory that go on beside the thread's other work.
#ifdef __CUDACC__
// cp.async, global to shared: SIZE bytes, 4 or 16, between addresses that are multiples of SIZE.
// NOTE: its form that reads fewer bytes and fills up with zeros was used with addresses outside of
// tensors; memcheck reported errors then, and none since only bytes that exist are copied.
template <unsigned SIZE>
MXQ_FN void copy_async(unsigned offset, const unsigned char *from) {
  const unsigned long long global = __cvta_generic_to_global(from);
  if constexpr (SIZE == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(offset)), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(shared_address(offset)), "l"(global) : "memory");
}
// cp.async.wait_all: this thread's copies are there, for this thread.
MXQ_FN void copies_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif
