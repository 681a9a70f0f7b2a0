// SPDX-License-Identifier: MIT
#include "twin.h"

#include "tiny.h"

// As the expansions name their templates.
#line 8 "tiny.cc"

constexpr unsigned IN = 0, OUT = 1024, SCRATCH = 2048, BARRIER = 3072, NOTE = 4088;
constexpr unsigned RELAY = BARRIER - 8;  // a second barrier
constexpr unsigned COPIED = SCRATCH + 512;    // a word of each thread
constexpr unsigned EACH = TINY_TILE / TINY_THREADS;  // bytes of a tile for each thread

struct words3 {
  unsigned word[3];
};
struct words4 {
  unsigned word[4];
};

MXQ_FN unsigned expected_bytes(unsigned fault) {
  if (fault == TINY_EXPECT_LESS) return TINY_TILE - 16;
  if (fault == TINY_EXPECT_MORE) return TINY_TILE + 16;
  return fault == TINY_EXPECT_TOO_MUCH ? 1u << 20 : unsigned{TINY_TILE};
}

MXQ_FN void load_tile(const tiny_args &args, unsigned tile) {
  const unsigned fault = args.fault;
  barrier_expect(BARRIER, expected_bytes(fault));
  if (fault == TINY_ARRIVE_TWICE) barrier_expect(BARRIER, 0);
  if (fault == TINY_MAP_UNALIGNED)  // what no reference may say
    emu_map_load(IN, reinterpret_cast<const char *>(&args.in) + 32, 0, 0, tile, BARRIER, __LINE__,
                 __FILE__);
  map_load(IN, args.in, 0, 0, tile, BARRIER);
  if (fault == TINY_LOAD_OVER_LOAD) map_load(IN, args.in, 0, 0, tile, BARRIER);
}

// By the one thread that issues.
MXQ_FN void store_tile(const tiny_args &args, unsigned tile, bool last) {
  const unsigned fault = args.fault;
  const mxq_tensor_map none = {};
  if (fault == TINY_FENCE_BY_ISSUER) fence_async_shared();
  map_store(fault == TINY_NO_MAP ? none : args.out, 0, 0, tile,
            fault == TINY_STORE_UNALIGNED   ? OUT + 16
            : fault == TINY_STORE_UNWRITTEN ? SCRATCH
                                            : OUT);
  if (fault == TINY_LOAD_OVER_SOURCE) map_load(OUT, args.in, 0, 0, tile, BARRIER);
  const bool no_commit = fault == TINY_NO_COMMIT || fault == TINY_COMMIT_BY_OTHER ||
                         (fault == TINY_NO_LAST_COMMIT && last);
  if (!no_commit && fault != TINY_COMMIT_AFTER_WAIT) bulk_commit();
  const bool no_wait = fault == TINY_NO_READ_WAIT || fault == TINY_READ_WAIT_BY_OTHER ||
                       fault == TINY_COMMIT_BY_OTHER || (fault == TINY_NO_LAST_READ_WAIT && last);
  if (!no_wait) bulk_wait_read();
  if (fault == TINY_COMMIT_AFTER_WAIT) bulk_commit();
}

// Shared memory without the copy engine: a round of messages between neighbours.
MXQ_FN void talk(unsigned me, unsigned fault) {
  const unsigned neighbour = (me + 1) % TINY_THREADS;
  if (fault == TINY_READ_UNWRITTEN) shared_load<unsigned>(SCRATCH + 4 * me);
  if (fault == TINY_MISALIGNED) shared_load<unsigned>(SCRATCH + 4 * me + 2);
  if (fault == TINY_ODD_WIDTH) shared_load<words3>(SCRATCH);
  if (fault == TINY_PAST_SHARED && me == 7) shared_store<unsigned>(TINY_SHARED - 2 + 2, 0);
  shared_store(SCRATCH + 4 * me, me);
  if (fault == TINY_WRITE_AFTER_WRITE) shared_store(SCRATCH + 4 * (me & 30), me);
  if (fault != TINY_READ_UNORDERED) block_sync();
  shared_load<unsigned short>(SCRATCH + 4 * neighbour);
  shared_load<unsigned>(SCRATCH);  // all threads read the same bytes
  if (fault != TINY_WRITE_AFTER_READ) block_sync();
  if (fault == TINY_WRITE_AFTER_ONE_READ && me == 1) shared_load<unsigned>(SCRATCH);
  shared_store(SCRATCH + 4 * me, 0u);
  if (fault == TINY_ENDLESS)
    for (;;) shared_load<unsigned>(SCRATCH + 4 * me);
}

MXQ_FN void store_sum(const tiny_args &args, unsigned tile, unsigned me, unsigned sum) {
  const unsigned fault = args.fault;
  unsigned char *to = args.sums + tile * TINY_THREADS + me;
  if (fault == TINY_GLOBAL_PAST_END) to += args.tiles * TINY_THREADS;
  if (fault == TINY_GLOBAL_BEFORE_BEGIN) to -= args.tiles * TINY_THREADS;
  if (fault == TINY_GLOBAL_READ_ONLY) to = const_cast<unsigned char *>(args.input) + me;
  if (fault == TINY_GLOBAL_TWICE) to = args.sums + tile * TINY_THREADS + me / 2;
  if (fault == TINY_GLOBAL_UNWRITTEN && me == 5) return;
  if (fault == TINY_GLOBAL_MISALIGNED)
    global_store(reinterpret_cast<unsigned short *>(to + 1 - me % 2), (unsigned short)0);
  global_store(to, static_cast<unsigned char>(sum));
}

// Each thread copies a word beside its other work.
MXQ_FN void copy_round(const tiny_args &args, unsigned me) {
  const unsigned fault = args.fault, to = COPIED + 4 * me;
  const unsigned char *from = args.input + 4 * me;
  if (fault == TINY_COPY_PAST_END) from += args.tiles * TINY_TILE;
  if (fault == TINY_COPY_MISALIGNED) from += 2;
  if (fault == TINY_COPY_ODD_SIZE) copy_async<8>(to & ~7u, from);
  if (fault == TINY_COPY_OVER_READS && me == 0) shared_store(COPIED + 4, 0u);
  if (fault == TINY_COPY_OVER_READS) block_sync();
  if (fault == TINY_COPY_OVER_READS && me != 1) shared_load<unsigned>(COPIED + 4);
  copy_async<4>(fault == TINY_COPY_TO_MISALIGNED ? to + 2 : to, from);
  if (fault == TINY_COPY_OVER_COPY) copy_async<4>(to, from);
  if (fault == TINY_COPY_AWAITED_BY_OTHER ? me == 0 : fault != TINY_COPY_NEVER_AWAITED)
    if (fault != TINY_COPY_UNAWAITED) copies_wait();
  if (fault == TINY_COPY_NEVER_AWAITED) return;
  if (fault != TINY_COPY_UNORDERED) block_sync();
  const unsigned neighbour = (me + 1) % TINY_THREADS;
  const unsigned word = shared_load<unsigned>(COPIED + 4 * neighbour);
  const unsigned whole = global_load(reinterpret_cast<const unsigned *>(args.input + 4 * neighbour));
  if (word != whole) shared_load<unsigned>(TINY_SHARED);
}

// The whole warp tells each other their numbers.
MXQ_FN void shuffle(unsigned me, unsigned fault) {
  if (fault == TINY_SHUFFLE_MASK && me >= 16) shuffle_xor(me, 2);
  for (unsigned mask = 1; mask < TINY_THREADS; mask *= 2) {
    if (fault == TINY_SHUFFLE_DIVERGED && mask == 4 && me == 20) continue;
    const unsigned other = shuffle_xor(me << 8 | mask, mask);
    if (other != ((me ^ mask) << 8 | mask)) shared_load<unsigned>(SCRATCH + 4 * me);
  }
  if (fault == TINY_SHUFFLE_APART && me < 16) shuffle_xor(me, 1);
  if (fault == TINY_SHUFFLE_APART && me >= 16) shuffle_xor(me, 1);
  if (fault == TINY_SHUFFLE_WIDE) shuffle_xor(me, 32);
  if (fault == TINY_WRITE_AFTER_MANY_READS) {  // more than lists of reads have room for at first
    for (unsigned i = 0; me == 1 && i < 20000; i++) {
      fence_async_shared();  // or a read would be like the one before
      shared_load<words4>(SCRATCH);
    }
    shuffle_xor(me, 1);
    if (me == 3) shared_store(SCRATCH, me);
  }
  if (fault == TINY_SHUFFLE_ORDERS_NOTHING) {
    shared_store(SCRATCH + 4 * me, me);
    shuffle_xor(me, 1);
    shared_load<unsigned>(SCRATCH + 4 * (me ^ 1));
  }
}

// What the input holds, by single accesses of all widths.
MXQ_FN unsigned read_input(const tiny_args &args, unsigned tile, unsigned me, unsigned fault) {
  const unsigned char *from = args.input + tile * TINY_TILE + EACH * me;
  if (fault == TINY_READ_BEFORE_BEGIN) from -= args.tiles * TINY_TILE;
  if (fault == TINY_READ_OUTPUT) from = args.sums + tile * TINY_THREADS + me;
  if (fault == TINY_READ_MISALIGNED)
    global_load(reinterpret_cast<const unsigned *>(from + 2));
  if (fault == TINY_READ_ODD_WIDTH) global_load(reinterpret_cast<const words3 *>(from));
  const unsigned byte = global_load(from);
  return byte + global_load(reinterpret_cast<const unsigned short *>(from)) % 256;
}

MXQ_FN unsigned copy_bytes(unsigned me, unsigned fault) {
  unsigned sum = 0;
  if (fault == TINY_FENCE_BEFORE_WRITE) fence_async_shared();
  for (unsigned i = 0; i < EACH; i += 4) {
    const unsigned word = shared_load<unsigned>(IN + EACH * me + i);
    shared_store(OUT + EACH * me + i, word);
    sum += word;
  }
  return sum;
}

// A word that the arrival on the barrier orders before the waits of the others.
MXQ_FN void load_with_note(const tiny_args &args, unsigned tile) {
  if (args.fault != TINY_NOTE_AFTER_ARRIVAL) shared_store(NOTE, tile);
  load_tile(args, tile);
  if (args.fault == TINY_NOTE_AFTER_ARRIVAL) shared_store(NOTE, tile);
}

MXQ_FN void begin(const tiny_args &args, unsigned me) {
  const unsigned fault = args.fault;
  if (me == 0) {
    if (fault != TINY_NO_INIT) barrier_init(BARRIER, 1);
    barrier_init(RELAY, 1);
    if (fault == TINY_INIT_TWICE) barrier_init(BARRIER, 1);
    if (fault == TINY_INIT_NO_ARRIVALS) barrier_init(BARRIER + 8, 0);
    for (unsigned i = 1; fault == TINY_INIT_TOO_MANY && i < 64; i++)
      barrier_init(BARRIER + 8 * i, 1);
    if (fault != TINY_INIT_UNFENCED) fence_async_shared();
    if (fault == TINY_BARRIER_OVERWRITTEN) shared_store(BARRIER, 1u);
    if (fault == TINY_BARRIER_READ) shared_load<unsigned>(BARRIER + 4);
    if (fault == TINY_LOAD_OVER_UNFENCED) shared_store(IN, 1u);
    load_with_note(args, 0);
    if (fault == TINY_STORE_LANDING) map_store(args.out, 0, 0, 0, IN);
  }
  if (fault != TINY_INIT_UNORDERED) block_sync();
}

MXQ_FN void await(unsigned me, unsigned tile, unsigned fault) {
  if (fault == TINY_NO_LOAD_WAIT || (fault == TINY_LOAD_WAIT_BY_ONE && me != 0)) return;
  // Thread 2 hears of the note from thread 1 alone.
  if (me == 2) barrier_wait(RELAY, tile & 1);
  if (me == 2) shared_load<unsigned>(NOTE);
  barrier_wait(BARRIER, (tile + (fault == TINY_WRONG_PARITY ? tile : 0)) & 1);
  if (me == 1) barrier_expect(RELAY, 0);
}

// After the codes' barrier: by the thread that should, or by another.
MXQ_FN void finish_tile(const tiny_args &args, unsigned tile, unsigned me) {
  const unsigned fault = args.fault;
  if (fault == TINY_FENCE_AFTER_SYNC || (fault == TINY_FENCE_AFTER_SYNC_BY_ONE && me == 1))
    fence_async_shared();
  if (me == 0) store_tile(args, tile, tile + 1 == args.tiles);
  if (fault == TINY_EXTRA_READ_WAIT && me == 2) bulk_wait_read();
  if (fault != TINY_READ_WAIT_BY_OTHER && fault != TINY_COMMIT_BY_OTHER) return;
  block_sync();
  if (me == 1) bulk_commit();
  block_sync();
  if (me == (fault == TINY_COMMIT_BY_OTHER ? 0 : 1)) bulk_wait_read();
  block_sync();
}

MXQ_KERNEL(tiny, TINY_THREADS, 1)(MXQ_ARGS(tiny_args) args) {
  const unsigned me = thread_id(), fault = args.fault;
  if (fault == TINY_WRITE_AFTER_MANY_READS) {
    shared_store(SCRATCH + 4 * me, me);
    block_sync();
  }
  shuffle(me, fault);
  if (fault == TINY_EARLY_RETURN && me == 9) return;
  if (fault == TINY_SHUFFLE_ORDERS_NOTHING) block_sync();
  talk(me, fault);
  copy_round(args, me);
  begin(args, me);
  for (unsigned tile = 0; tile < args.tiles; tile++) {
    const bool last = tile + 1 == args.tiles;
    await(me, tile, fault);
    if (fault == TINY_LOAD_OVER_READS && me == 0 && !last) load_tile(args, tile + 1);
    const unsigned sum = copy_bytes(me, fault);
    store_sum(args, tile, me, sum + read_input(args, tile, me, fault));
    if (fault != TINY_NO_FENCE && fault != TINY_FENCE_BEFORE_WRITE &&
        fault != TINY_FENCE_AFTER_SYNC && fault != TINY_FENCE_BY_ISSUER &&
        (fault != TINY_FENCE_AFTER_SYNC_BY_ONE || me != 1))
      fence_async_shared();
    if (fault == TINY_TWO_SYNCS && me == 4)
      block_sync();
    else if (fault != TINY_NO_SYNC_BEFORE_STORE)
      block_sync();
    finish_tile(args, tile, me);
    const bool next = !last || fault == TINY_LOAD_NEVER_AWAITED;
    if (me == 0 && next && fault != TINY_NO_SYNC_AFTER_WAIT)
      load_with_note(args, last ? 0 : tile + 1);
    if (fault == TINY_NO_SYNC_AFTER_WAIT) copy_bytes(me, fault);
  }
}

// What lies in shared memory after a load of one box, whatever the map says.
MXQ_KERNEL(tiny_dump, TINY_THREADS, 1)(MXQ_ARGS(tiny_args) args) {
  if (thread_id() == 1) {
    barrier_init(BARRIER, 1);
    fence_async_shared();
  }
  block_sync();
  if (thread_id() == 0) {
    barrier_wait(BARRIER, 1);  // the phase before the first counts as complete
    barrier_expect(BARRIER, TINY_TILE);
    map_load(IN, args.in, static_cast<unsigned>(args.x), static_cast<unsigned>(args.y), 0, BARRIER);
    barrier_wait(BARRIER, 0);
  }
  block_sync();  // the wait of one thread orders the load before the reads of all
  for (unsigned i = 0; i < EACH; i++) {
    const unsigned at = EACH * thread_id() + i;
    global_store(args.dump + at, shared_load<unsigned char>(IN + at));
  }
  if (thread_id() == 0) map_store(args.out, 0, 0, 0, IN);  // loaded bytes need no fence
  if (thread_id() == 0) bulk_commit();
  if (thread_id() == 0) bulk_wait_read();
}
