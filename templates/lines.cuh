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

// Bytes of a line that lie past the last multiple of 16 before it.
MXQ_FN unsigned bytes_ahead(const unsigned char *line) {
  return static_cast<unsigned>(reinterpret_cast<length>(line)) % 16;
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
  const unsigned ahead = HAS_ENDS ? bytes_ahead(line) % 4 : 0;
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
    const unsigned bytes = line < from.lines ? from.bytes : 0, ahead = bytes_ahead(at) % 4;
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
  return {bytes_ahead(from.first) % 4, static_cast<unsigned>(from.pitch) % 4};
}

// A word of a loaded tile, `byte` bytes behind the place of a line. SHIFTED: lines may be shifted.
template <class TILE, bool SHIFTED>
MXQ_FN unsigned load_word(unsigned line, unsigned byte, unsigned selector) {
  const unsigned at = TILE::place(line, byte);
  if constexpr (!SHIFTED) return shared_load<unsigned>(at);
  return permute_bytes(shared_load<unsigned>(at), shared_load<unsigned>(at, 4), selector);
}

// Stores lines that are aligned to 16 bytes, a batch of pieces at a time. Lines of a thread lie equally far
// apart in shared memory.
template <class TILE>
struct store_steps {
  static constexpr unsigned LINE_PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / LINE_PIECES;
  static constexpr unsigned STEPS = TILE::LINES < STEP ? 1 : TILE::LINES / STEP;
  static constexpr unsigned BATCH = STEPS < 4 ? STEPS : 4;
  static_assert(THREADS % LINE_PIECES == 0 && STEPS % BATCH == 0, "whole batches");
  static_assert(STEP * sizeof(typename TILE::element) % 16 == 0, "lines that begin alike");
};
template <class TILE>
MXQ_FN unsigned lines_apart(unsigned lines) {
  return TILE::place(lines, 0) - TILE::place(0, 0);
}

template <class TILE>
MXQ_FN void store_pieces(const lines_at<unsigned char> &to) {
  using of = store_steps<TILE>;
  const unsigned byte = thread_id() % of::LINE_PIECES * 16, first = thread_id() / of::LINE_PIECES;
  if (byte >= to.bytes || first >= TILE::LINES) return;
  unsigned char *at = to.first + first * to.pitch + byte;
  unsigned from = TILE::place(first, byte);
#pragma unroll 1
  for (unsigned batch = 0; batch < of::STEPS; batch += of::BATCH) {
    words4 piece[of::BATCH];
#pragma unroll
    for (unsigned i = 0; i < of::BATCH; i++)
      piece[i] = shared_load<words4>(from, lines_apart<TILE>(i * of::STEP));
#pragma unroll
    for (unsigned i = 0; i < of::BATCH; i++, at += of::STEP * to.pitch)
      if (first + (batch + i) * of::STEP < to.lines)
        global_store(reinterpret_cast<words4 *>(at), piece[i]);
    from += lines_apart<TILE>(of::BATCH * of::STEP);
  }
}

// Stores the aligned pieces of other lines, each joined from five words of the tile: the fifth is the
// fourth again where pieces begin with a word.
template <class TILE>
MXQ_FN void store_joined(const lines_at<unsigned char> &to) {
  using of = store_steps<TILE>;
  const unsigned first = thread_id() / of::LINE_PIECES;
  unsigned char *at = to.first + first * to.pitch;
  const unsigned byte = thread_id() % of::LINE_PIECES * 16 - bytes_ahead(at);
  if (first >= TILE::LINES || byte > to.bytes || to.bytes - byte < 16) return;
  const unsigned joined = 0x3210 + byte % 4 * 0x1111;
  unsigned from[5];
  for (unsigned w = 0; w < 5; w++)
    from[w] = TILE::place(first, (w < 4 ? byte + w * 4 : byte + 15) & ~3u);
  at += byte;
#pragma unroll 1
  for (unsigned batch = 0; batch < of::STEPS; batch += of::BATCH) {
    words4 piece[of::BATCH];
#pragma unroll
    for (unsigned i = 0; i < of::BATCH; i++) {
      unsigned word[5];
      for (unsigned w = 0; w < 5; w++)
        word[w] = shared_load<unsigned>(from[w], lines_apart<TILE>(i * of::STEP));
      for (unsigned w = 0; w < 4; w++)
        piece[i].word[w] = permute_bytes(word[w], word[w + 1], joined);
    }
#pragma unroll
    for (unsigned i = 0; i < of::BATCH; i++, at += of::STEP * to.pitch)
      if (first + (batch + i) * of::STEP < to.lines)
        global_store(reinterpret_cast<words4 *>(at), piece[i]);
    for (unsigned w = 0; w < 5; w++) from[w] += lines_apart<TILE>(of::BATCH * of::STEP);
  }
}

// Stores the elements of each line that lie before its first aligned piece, and behind the last: as many
// neighbouring threads for a line as a piece has elements. Where both are more, twice.
template <class TILE>
MXQ_FN void store_ends(const lines_at<unsigned char> &to) {
  using element = typename TILE::element;
  constexpr unsigned PARTS = 16 / sizeof(element), STEP = THREADS / PARTS;
  static_assert(TILE::LINES % STEP == 0, "whole steps");
  const unsigned part = thread_id() % PARTS * sizeof(element), first = thread_id() / PARTS;
  unsigned char *const line = to.first + first * to.pitch;
  const unsigned room = (16 - bytes_ahead(line)) % 16, head = room < to.bytes ? room : to.bytes;
  const unsigned tail = (to.bytes - head) % 16;
#pragma unroll 1
  for (unsigned pass = 0; pass < (to.bytes % 16 ? 2 : 1); pass++) {
    const bool behind = pass != 0 || part >= head;
    if (behind && (part + tail < 16 || (pass != 0 && part >= head))) continue;
    const unsigned byte = behind ? to.bytes - 16 + part : part, from = TILE::place(first, byte);
    unsigned char *at = line + byte;
#pragma unroll 4
    for (unsigned i = 0; i < TILE::LINES / STEP; i++, at += STEP * to.pitch)
      if (first + i * STEP < to.lines)
        global_store(reinterpret_cast<element *>(at),
                     shared_load<element>(from, lines_apart<TILE>(i * STEP)));
  }
}

template <class TILE>
MXQ_FN void store_lines(const lines_at<unsigned char> &to) {
  if (are_aligned(to, 16)) {
    store_pieces<TILE>(to);
  } else {
    store_joined<TILE>(to);
    store_ends<TILE>(to);
  }
}
