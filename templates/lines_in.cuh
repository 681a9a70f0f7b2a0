//$ need "device_async.cuh"
// Tiles of lines from global to shared memory, at any address. TILE says where byte `byte` of line
// `line` lies in shared memory, place(line, byte); LINES and LINE_BYTES are powers of two. Bytes of a tile
// are contiguous within 16; those of a tile to load are so within the line, which has room for 16 more than
// LINE_BYTES. Lines begin at an `element`, and are a number of them apart.

// Bytes of a line that lie past the last multiple of 16 before it.
MXQ_FN unsigned bytes_ahead(const unsigned char *line) {
  return static_cast<unsigned>(reinterpret_cast<length>(line)) % 16;
}

// What of a tile exists in global memory: `lines` lines of `bytes` bytes, `pitch` bytes apart. Of the same
// lines, `before` bytes exist ahead of the tile and `behind` behind it: 16 or more are alike.
struct lines_from {
  const unsigned char *first;
  length pitch;
  unsigned lines, bytes, before, behind;
};

// How far the lines of a loaded tile begin behind their places: as far as in global memory behind a
// multiple of 16, so that pieces of 16 bytes arrive as they are.
struct lines_shift {
  unsigned first, pitch;  // of line 0, and from one line to the next; modulo 16
};
MXQ_FN bool is_shifted(lines_shift shift) { return (shift.first | shift.pitch) != 0; }
MXQ_FN unsigned ahead_of(lines_shift shift, unsigned line) {
  return (shift.first + line * shift.pitch) % 16;
}
// For permute_bytes of two words: the one that begins `byte` behind the first, modulo 4.
MXQ_FN unsigned shift_selector(unsigned byte) { return 0x3210 + byte % 4 * 0x1111; }
// Lines so far apart are shifted alike: their pitch is a number of elements.
template <class TILE>
constexpr unsigned ALIKE = 16 / sizeof(typename TILE::element);

// How far the places of lines lie apart, from one on that is a multiple of a power of two to one as many
// lines on as a multiple of it; ALIKE is the least of them.
template <class TILE>
MXQ_FN unsigned lines_apart(unsigned lines) {
  return TILE::place(lines, 0) - TILE::place(0, 0);
}

// Of the piece `at` bytes behind the place of a line that is shifted by `ahead`: whether it holds any of
// the tile's bytes, and if so whether all of its bytes are the line's.
MXQ_FN bool holds_bytes(const lines_from &from, unsigned ahead, unsigned at) {
  return at < ahead + from.bytes;
}
MXQ_FN bool is_whole(const lines_from &from, unsigned ahead, unsigned at) {
  return at + from.before >= ahead && at + 16 <= ahead + from.bytes + from.behind;
}

// Starts the copy of a piece that exists whole; one that does not exist becomes zeros.
template <class TILE>
MXQ_FN void load_piece(const lines_from &from, unsigned line, unsigned at) {
  const unsigned char *const begin = from.first + line * from.pitch;
  const unsigned ahead = bytes_ahead(begin);
  const bool exists = line < from.lines && holds_bytes(from, ahead, at);
  if (!exists)
    shared_store(TILE::place(line, at), words4{});
  else if (is_whole(from, ahead, at))
    copy_async<16>(TILE::place(line, at), begin - ahead + at);
}

// All pieces of a tile but those behind LINE_BYTES. A thread's lines are shifted alike.
template <class TILE>
MXQ_FN void load_pieces(const lines_from &from) {
  constexpr unsigned PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE::LINES % STEP == 0, "whole steps");
  static_assert(STEP % ALIKE<TILE> == 0, "lines that are shifted alike");
  const unsigned first = thread_id() / PIECES, at = thread_id() % PIECES * 16;
  const unsigned char *line = from.first + first * from.pitch;
  const unsigned ahead = bytes_ahead(line), to = TILE::place(first, at);
  if (from.lines == TILE::LINES && holds_bytes(from, ahead, at) && is_whole(from, ahead, at)) {
    line = line - ahead + at;
#pragma unroll
    for (unsigned i = 0; i < TILE::LINES / STEP; i++, line += STEP * from.pitch)
      copy_async<16>(to + lines_apart<TILE>(i * STEP), line);
  } else {
#pragma unroll 1
    for (unsigned i = 0; i < TILE::LINES; i += STEP) load_piece<TILE>(from, first + i, at);
  }
}

// What pieces left out: the elements of those that lines begin and end in.
template <class TILE>
MXQ_FN void load_ends(const lines_from &from) {
  using element = typename TILE::element;
#pragma unroll 1
  for (unsigned item = thread_id(); item < from.lines * ALIKE<TILE>; item += THREADS) {
    const unsigned line = item / ALIKE<TILE>, part = item % ALIKE<TILE> * sizeof(element);
    const unsigned char *const begin = from.first + line * from.pitch;
    const unsigned ahead = bytes_ahead(begin), last = (ahead + from.bytes) / 16 * 16;
#pragma unroll
    for (unsigned end = 0; end < 2; end++) {
      const unsigned at = end == 0 ? 0 : last, byte = at + part - ahead;
      if (!holds_bytes(from, ahead, at) || is_whole(from, ahead, at)) continue;
      element value = 0;
      if (byte < from.bytes) value = global_load(reinterpret_cast<const element *>(begin + byte));
      shared_store(TILE::place(line, at + part), value);
    }
  }
}

// Starts to load a tile. copies_wait ends it.
template <class TILE>
MXQ_FN lines_shift load_lines(const lines_from &from) {
  load_pieces<TILE>(from);
  if ((reinterpret_cast<length>(from.first) | from.pitch | from.bytes) % 16 != 0) {
#pragma unroll 1
    for (unsigned line = thread_id(); line < TILE::LINES; line += THREADS)
      load_piece<TILE>(from, line, TILE::LINE_BYTES);
    if (from.before < 16 || from.behind < 16) load_ends<TILE>(from);
  }
  return {bytes_ahead(from.first), static_cast<unsigned>(from.pitch) % 16};
}
