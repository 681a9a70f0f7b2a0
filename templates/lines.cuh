// Tiles of lines between global and shared memory, at any address. TILE says where byte `byte` of line
// `line` lies in shared memory, place(line, byte), contiguous within 16 bytes; LINES and LINE_BYTES
// are powers of two.

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

// Copies what exists, in pieces that neighbouring lanes take along a line: ACROSS of them in each of
// DOWN lines are on their way at a time. The rest is zeros. Pieces of 16 bytes are for whole tiles.
template <class TILE, class PIECE>
MXQ_FN void load_pieces(const lines_at<const unsigned char> &from) {
  constexpr unsigned SIZE = sizeof(PIECE), LINE_PIECES = TILE::LINE_BYTES / SIZE;
  constexpr unsigned LANES = LINE_PIECES < 32 ? LINE_PIECES : 32, ACROSS = LINE_PIECES / LANES;
  constexpr unsigned STEP = THREADS / LANES, STEPS = TILE::LINES / STEP;
  constexpr unsigned MOST = SIZE == 16 ? 8 : 16;
  constexpr unsigned DOWN = STEPS * ACROSS < MOST ? STEPS : MOST / ACROSS;
  static_assert(THREADS % LANES == 0 && TILE::LINES % (STEP * DOWN) == 0, "whole batches");
  const unsigned byte = thread_id() % LANES * SIZE;
  length at = thread_id() / LANES * from.pitch + byte;
#pragma unroll 1
  for (unsigned batch = 0; batch < STEPS / DOWN; batch++) {
    const unsigned first = thread_id() / LANES + batch * (STEP * DOWN);
    PIECE piece[DOWN][ACROSS];
#pragma unroll
    for (unsigned i = 0; i < DOWN; i++, at += STEP * from.pitch) {
      const unsigned end = first + i * STEP < from.lines ? from.bytes : 0;
#pragma unroll
      for (unsigned j = 0; j < ACROSS; j++)
        piece[i][j] =
            SIZE == 16 || byte + j * LANES * SIZE < end
                ? global_load(reinterpret_cast<const PIECE *>(from.first + at) + j * LANES)
                : PIECE{};
    }
#pragma unroll
    for (unsigned i = 0; i < DOWN; i++)
#pragma unroll
      for (unsigned j = 0; j < ACROSS; j++)
        shared_store(TILE::place(first + i * STEP, byte + j * LANES * SIZE), piece[i][j]);
  }
}

// Whole tiles by 16 bytes where that fits, words where those do, otherwise one ELEMENT at a time. There
// is no more of these: each takes as long to compile as a conversion.
template <class TILE, class ELEMENT>
MXQ_FN void load_lines(const lines_at<const unsigned char> &from) {
  const bool whole = from.lines == TILE::LINES && from.bytes == TILE::LINE_BYTES;
  if (whole && are_aligned(from, 16))
    load_pieces<TILE, words4>(from);
  else if (sizeof(ELEMENT) == 4 || are_aligned(from, 4))
    load_pieces<TILE, unsigned>(from);
  else
    load_pieces<TILE, ELEMENT>(from);
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

// Bytes of a line that lie past the last aligned word before it.
MXQ_FN unsigned bytes_ahead(const unsigned char *line) {
  return static_cast<unsigned>(reinterpret_cast<length>(line)) % 4;
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

// Stores the bytes of each line that lie before its first aligned word, and behind the last.
template <class TILE>
MXQ_FN void store_ends(const lines_at<unsigned char> &to) {
  for (unsigned line = thread_id(); line < to.lines; line += THREADS) {
    unsigned char *const at = to.first + line * to.pitch;
    const unsigned ahead = bytes_ahead(at), head = (4 - ahead) % 4;
    const unsigned tail = (to.bytes + ahead) % 4;
    for (unsigned i = 0; i < 3; i++) {
      const unsigned last = to.bytes - 1 - i;
      if (i < head && i < to.bytes)
        global_store(at + i, shared_load<unsigned char>(TILE::place(line, i)));
      if (i < tail && i < to.bytes && last >= head)
        global_store(at + last, shared_load<unsigned char>(TILE::place(line, last)));
    }
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
