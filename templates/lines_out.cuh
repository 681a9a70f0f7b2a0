// Lines of a tile to global memory, at any address. TILE says where byte `byte` of line `line` lies in
// shared memory: place(line, byte), with words whole and lines PITCH bytes apart. LINES and LINE_BYTES are
// powers of two. In global memory lines begin at an `element`, and are a number of them apart.

// What of a tile exists in global memory: `lines` lines of `bytes` bytes, `pitch` bytes apart.
struct lines_to {
  unsigned char *first;
  length pitch;
  unsigned lines, bytes;
};

// Lines whose pieces of 16 bytes all lie at multiples of 16.
template <class TILE>
MXQ_FN void store_pieces(const lines_to &to) {
  constexpr unsigned PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE::LINES % STEP == 0, "whole steps");
  const unsigned first = thread_id() / PIECES, byte = thread_id() % PIECES * 16;
  if (byte >= to.bytes) return;
  unsigned char *at = to.first + first * to.pitch + byte;
  const unsigned from = TILE::place(first, byte);
#pragma unroll 4
  for (unsigned i = 0; i < TILE::LINES; i += STEP, at += STEP * to.pitch)
    if (first + i < to.lines)
      global_store(reinterpret_cast<words4 *>(at), shared_load<words4>(from, i * TILE::PITCH));
}

// Sectors, the units of the L2 cache, have 32 bytes: those from an address to the next one's begin.
MXQ_FN unsigned bytes_to_sector(const unsigned char *at) {
  return 0u - static_cast<unsigned>(reinterpret_cast<length>(at)) & 31;
}

// Any lines, a warp for each: whole sectors by words, each joined from two words of the tile; the elements
// before and behind them in one store, because a sector that arrives in parts costs as much as several.
// Lines whose numbers differ by 32 begin alike.
template <class TILE>
MXQ_FN void store_sectors(const lines_to &to) {
  using element = typename TILE::element;
  constexpr unsigned ALIKE = TILE::LINES < 32 ? TILE::LINES : 32;
  const unsigned lane = thread_id() % 32, part = lane * sizeof(element);
#pragma unroll 1
  for (unsigned first = thread_id() / 32; first < ALIKE; first += THREADS / 32) {
    unsigned char *const line = to.first + first * to.pitch;
    const unsigned ahead = bytes_to_sector(line), head = ahead < to.bytes ? ahead : to.bytes;
    const unsigned whole = (to.bytes - head) / 32 * 32, tail = to.bytes - head - whole;
    // Lanes before the head's end store of the first 32 bytes, those behind the tail's begin of the last.
    const bool in_head = part < head, in_tail = part < 32 && part + tail >= 32;
    const unsigned end = in_head ? part : to.bytes - 32 + part;
    const unsigned low = TILE::place(first, head / 4 * 4 + lane * 4), high = low + (head % 4 ? 4 : 0);
    const unsigned joined = 0x3210 + head % 4 * 0x1111, end_from = TILE::place(first, end);
    unsigned char *words_at = line + head + lane * 4, *end_at = line + end;
#pragma unroll 2
    for (unsigned i = 0; i < TILE::LINES; i += ALIKE) {
      const bool exists = first + i < to.lines;
#pragma unroll
      for (unsigned byte = 0; byte < TILE::LINE_BYTES; byte += 128)
        if (exists && lane * 4 + byte < whole)
          global_store(reinterpret_cast<unsigned *>(words_at + byte),
                       permute_bytes(shared_load<unsigned>(low, i * TILE::PITCH + byte),
                                     shared_load<unsigned>(high, i * TILE::PITCH + byte), joined));
      if (exists && (in_head || in_tail))
        global_store(reinterpret_cast<element *>(end_at),
                     shared_load<element>(end_from, i * TILE::PITCH));
      words_at += ALIKE * to.pitch;
      end_at += ALIKE * to.pitch;
    }
    // Of the last tile in a line both may be more than 32 bytes together.
    if (in_head && in_tail)
#pragma unroll 1
      for (unsigned i = first; i < to.lines; i += ALIKE)
        global_store(reinterpret_cast<element *>(to.first + i * to.pitch + to.bytes - 32 + part),
                     shared_load<element>(TILE::place(i, to.bytes - 32 + part)));
  }
}

template <class TILE>
MXQ_FN void store_lines(const lines_to &to) {
  if ((reinterpret_cast<length>(to.first) | to.pitch | to.bytes) % 16 == 0)
    store_pieces<TILE>(to);
  else
    store_sectors<TILE>(to);
}
