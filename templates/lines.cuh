//$ need "device_async.cuh"
// Tiles of lines between global and shared memory, at any address. TILE says where byte `byte` of line
// `line` lies in shared memory, place(line, byte); LINES and LINE_BYTES are powers of two. Bytes of a tile
// to store are contiguous within 16. Those of a tile to load are within the line, which has room for
// LINE_PITCH of them, a word more than LINE_BYTES at least; they are of type `element`.

// What of a tile exists in global memory: `lines` lines of `bytes` bytes, `pitch` bytes apart.
template <class BYTE>
struct lines_at {
  BYTE *first;
  length pitch;
  unsigned lines, bytes;
};

// Whether each line begins and ends at a multiple of `bytes`.
template <class BYTE>
MXQ_FN bool are_aligned(const lines_at<BYTE> &of, unsigned bytes) {
  return (reinterpret_cast<length>(of.first) | of.pitch | of.bytes) % bytes == 0;
}

// Bytes of a line that lie past the last aligned word before it.
MXQ_FN unsigned bytes_ahead(const unsigned char *line) {
  return static_cast<unsigned>(reinterpret_cast<length>(line)) % 4;
}

// How far the lines of a loaded tile begin behind their places: as far as in global memory behind an
// aligned word, so that words arrive as they are. Elements of a word have no such distance.
struct lines_shift {
  unsigned first, pitch;  // of line 0, and from one line to the next; modulo 4
};
MXQ_FN bool is_shifted(lines_shift shift) { return (shift.first | shift.pitch) != 0; }
// For permute_bytes of two words: the one that begins as far behind the first as `line` is shifted, and
// `half` more.
MXQ_FN unsigned shift_selector(lines_shift shift, unsigned line, unsigned half = 0) {
  return 0x3210 + ((shift.first + line * shift.pitch) % 4 + half) * 0x1111;
}

// Starts the copies of pieces that exist whole; others become zeros. HAS_ENDS: but not those that lines
// begin and end in. A thread's lines lie so far apart that all have the same distance from a word.
template <class TILE, class PIECE, bool HAS_ENDS>
MXQ_FN void copy_pieces(const lines_at<const unsigned char> &from) {
  constexpr unsigned SIZE = sizeof(PIECE), PIECES = TILE::LINE_BYTES / SIZE, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE::LINES % STEP == 0, "whole steps");
  static_assert(!HAS_ENDS || STEP * sizeof(typename TILE::element) % 4 == 0, "alike");
  const unsigned first = thread_id() / PIECES, at = thread_id() % PIECES * SIZE;
  const unsigned char *line = from.first + first * from.pitch;
  const unsigned ahead = HAS_ENDS ? bytes_ahead(line) : 0;
  if (HAS_ENDS && at < ahead) return;
  const unsigned end = (from.bytes + ahead) / SIZE * SIZE;
  line += at - ahead;
#pragma unroll 4
  for (unsigned i = 0; i < TILE::LINES / STEP; i++, line += STEP * from.pitch) {
    const bool exists = first + i * STEP < from.lines;
    if (exists && at < end)
      copy_async<SIZE>(TILE::place(first + i * STEP, at), line);
    else if (!HAS_ENDS || at != (exists ? end : 0))
      shared_store(TILE::place(first + i * STEP, at), PIECE{});
  }
}

// The word whose first byte lies `from` bytes behind the begin of a line, modulo 2^32; zeros outside of it.
template <class ELEMENT>
MXQ_FN unsigned gather_word(const unsigned char *line, unsigned from, unsigned bytes) {
  unsigned word = 0;
#pragma unroll
  for (unsigned i = 0; i < 4; i += sizeof(ELEMENT)) {
    const unsigned byte = from + i;
    if (byte < bytes)
      word |= static_cast<unsigned>(global_load(reinterpret_cast<const ELEMENT *>(line + byte)))
              << 8 * i;
  }
  return word;
}

// What the pieces left out: the words that lines begin and end in, and the one behind LINE_BYTES.
template <class TILE>
MXQ_FN void load_ends(const lines_at<const unsigned char> &from) {
  using element = typename TILE::element;
#pragma unroll 1
  for (unsigned line = thread_id(); line < TILE::LINES; line += THREADS) {
    const unsigned char *const at = from.first + line * from.pitch;
    const unsigned bytes = line < from.lines ? from.bytes : 0, ahead = bytes_ahead(at);
    const unsigned end = bytes ? (bytes + ahead) / 4 * 4 : 0;
    shared_store(TILE::place(line, end), gather_word<element>(at, end - ahead, bytes));
    if (ahead != 0 && end != 0)
      shared_store(TILE::place(line, 0), gather_word<element>(at, 0 - ahead, bytes));
    if (end != TILE::LINE_BYTES) shared_store(TILE::place(line, TILE::LINE_BYTES), 0u);
  }
}

// Starts to load a tile: by 16 bytes, or by words. copies_wait ends it.
template <class TILE>
MXQ_FN lines_shift load_lines(const lines_at<const unsigned char> &from) {
  constexpr bool WORDS_WHOLE = sizeof(typename TILE::element) == 4;
  if (are_aligned(from, 16)) {
    copy_pieces<TILE, words4, false>(from);
    return {};
  }
  copy_pieces<TILE, unsigned, !WORDS_WHOLE>(from);
  if constexpr (WORDS_WHOLE) return {};
  load_ends<TILE>(from);
  return {bytes_ahead(from.first), static_cast<unsigned>(from.pitch) % 4};
}

// A word of a loaded tile, `byte` bytes behind the place of a line. SHIFTED: lines may be shifted.
template <class TILE, bool SHIFTED>
MXQ_FN unsigned load_word(unsigned line, unsigned byte, unsigned selector) {
  const unsigned at = TILE::place(line, byte);
  if constexpr (!SHIFTED) return shared_load<unsigned>(at);
  return permute_bytes(shared_load<unsigned>(at), shared_load<unsigned>(at, 4), selector);
}

// Stores lines that are aligned to 16 bytes, a batch of pieces at a time.
template <class TILE>
MXQ_FN void store_pieces(const lines_at<unsigned char> &to) {
  constexpr unsigned LINE_PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / LINE_PIECES;
  constexpr unsigned STEPS = TILE::LINES < STEP ? 1 : TILE::LINES / STEP;
  constexpr unsigned BATCH = STEPS < 4 ? STEPS : 4;
  static_assert(THREADS % LINE_PIECES == 0 && STEPS % BATCH == 0, "whole batches");
  const unsigned byte = thread_id() % LINE_PIECES * 16, first = thread_id() / LINE_PIECES;
  if (byte >= to.bytes || first >= TILE::LINES) return;
  unsigned char *at = to.first + first * to.pitch + byte;
#pragma unroll 1
  for (unsigned batch = 0; batch < STEPS; batch += BATCH) {
    words4 piece[BATCH];
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++)
      piece[i] = shared_load<words4>(TILE::place(first + (batch + i) * STEP, byte));
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++, at += STEP * to.pitch)
      if (first + (batch + i) * STEP < to.lines)
        global_store(reinterpret_cast<words4 *>(at), piece[i]);
  }
}

// Stores the aligned words of other lines, each joined from two words of the tile. A thread's lines
// are a multiple of four apart, so that as many bytes are ahead of each.
template <class TILE>
MXQ_FN void store_words(const lines_at<unsigned char> &to) {
  constexpr unsigned LINE_WORDS = TILE::LINE_BYTES / 4, STEP = THREADS / LINE_WORDS;
  constexpr unsigned BATCH = TILE::LINES / STEP < 4 ? TILE::LINES / STEP : 4;
  static_assert(THREADS % LINE_WORDS == 0 && TILE::LINES % (STEP * BATCH) == 0, "whole batches");
  const unsigned first = thread_id() / LINE_WORDS;
  const unsigned end = thread_id() % LINE_WORDS * 4;  // of the first of the two words
  unsigned char *const line = to.first + first * to.pitch;
  const unsigned ahead = STEP % 4 == 0 ? bytes_ahead(line) : 0;
  const unsigned byte = end - ahead, joined = 0x7654 - ahead * 0x1111;
  if (byte > to.bytes || to.bytes - byte < 4) return;
  unsigned char *at = line + byte;
#pragma unroll 1
  for (unsigned batch = 0; batch < TILE::LINES / STEP; batch += BATCH) {
    unsigned word[BATCH];
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++) {
      const unsigned from = first + (batch + i) * STEP;
      const unsigned low = ahead ? shared_load<unsigned>(TILE::place(from, end - 4)) : 0;
      word[i] = permute_bytes(low, shared_load<unsigned>(TILE::place(from, end)), joined);
    }
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++, at += STEP * to.pitch)
      if (first + (batch + i) * STEP < to.lines)
        global_store(reinterpret_cast<unsigned *>(at), word[i]);
  }
}

// Stores the bytes of each line that lie before its first aligned word, and behind the last: eight
// neighbouring threads for a line, four at either end.
template <class TILE>
MXQ_FN void store_ends(const lines_at<unsigned char> &to) {
#pragma unroll 1
  for (unsigned item = thread_id(); item < to.lines * 8; item += THREADS) {
    const unsigned line = item / 8, i = item % 4;
    unsigned char *const at = to.first + line * to.pitch;
    const unsigned ahead = bytes_ahead(at), head = (4 - ahead) % 4, tail = (to.bytes + ahead) % 4;
    const unsigned byte = item % 8 < 4 ? i : to.bytes - 1 - i;
    if (i < to.bytes && (item % 8 < 4 ? i < head : i < tail && byte >= head))
      global_store(at + byte, shared_load<unsigned char>(TILE::place(line, byte)));
  }
}

template <class TILE>
MXQ_FN void store_lines(const lines_at<unsigned char> &to) {
  if (are_aligned(to, 16)) {
    store_pieces<TILE>(to);
  } else {
    store_words<TILE>(to);
    if (!are_aligned(to, 4)) store_ends<TILE>(to);
  }
}
