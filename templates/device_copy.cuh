// Primitives of the tensor copy engine.
#ifdef __CUDACC__
// mbarrier.init: one phase completes after `arrivals` arrivals and all expected bytes.
MXQ_FN void barrier_init(unsigned offset, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"(shared_address(offset)), "r"(arrivals) : "memory");
}
// mbarrier.arrive.expect_tx: arrives once and adds `bytes` to what the phase waits for.
MXQ_FN void barrier_expect(unsigned offset, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(offset)), "r"(bytes) : "memory");
}
// mbarrier.try_wait.parity: returns once the phase of this parity has completed.
MXQ_FN void barrier_wait(unsigned offset, unsigned parity) {
  unsigned done;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t}"
        : "=r"(done) : "r"(shared_address(offset)), "r"(parity) : "memory");
  } while (!done);
}
// fence.proxy.async: this thread's shared accesses before it are seen by the copy engine after it.
MXQ_FN void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// prefetch.tensormap: brings a map to the copy engine before its first use.
MXQ_FN void map_prefetch(const mxq_tensor_map &map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}
// cp.async.bulk.tensor, global to shared: one box at element coordinates (x, y, z), fastest first;
// its bytes count on the barrier.
MXQ_FN void map_load(unsigned offset, const mxq_tensor_map &map, unsigned x, unsigned y, unsigned z,
                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];"
      :: "r"(shared_address(offset)), "l"(&map), "r"(x), "r"(y), "r"(z),
         "r"(shared_address(barrier)) : "memory");
}
// cp.async.bulk.tensor, shared to global: one box, in the thread's open bulk group.
MXQ_FN void map_store(const mxq_tensor_map &map, unsigned x, unsigned y, unsigned z,
                      unsigned offset) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
      :: "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(offset)) : "memory");
}
// cp.async.bulk.commit_group: closes this thread's open group.
MXQ_FN void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// cp.async.bulk.wait_group.read 0: the copy engine has read the sources of this thread's groups.
MXQ_FN void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
#endif
