//$ need "device_f16.cuh"
//$ need "device_widen.cuh"
// Codes as float32, exactly, by way of halves. The eight bits of an e5m2 code are the high byte of a
// half; all other types are the bits of such a half or of an e4m3 code with a smaller exponent, and
// one product with a power of two makes up for that.
constexpr unsigned CODES = 32 / IN_BITS;  // in a word
constexpr bool IN_SIX = IN_EXPONENT_BITS + IN_MANTISSA_BITS == 5;
constexpr bool CONVERTS = IN_BITS == 8 && !IN_SIX ? HAS_FP8 : HAS_NARROW;

MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }
// Two halves of 2^exponent.
MXQ_FN constexpr unsigned power_pair(unsigned exponent) { return both((15 + exponent) << 10); }

// Two halves times 2^EXPONENT.
template <unsigned EXPONENT>
MXQ_FN unsigned raise_pair(unsigned halves) {
  if constexpr (EXPONENT == 0) return halves;
  return multiply_pair_f16(halves, power_pair(EXPONENT));
}

// The halves of two e4m3 codes, those of bytes 2*pair and 2*pair + 1, without a conversion.
MXQ_FN unsigned widen_e4m3(unsigned word, unsigned pair) {
  const unsigned selector = pair ? 0x3424 : 0x1404;
  const unsigned codes = permute_bytes(word, 0, selector);
  const unsigned halves = raise_pair<8>((codes & 0x80008000) | (codes >> 1 & 0x3F803F80));
  // The one magnitude 0x7F is NaN.
  const unsigned nan = permute_bytes((word & 0x7F7F7F7F) + 0x01010101, 0, selector) & 0x80008000;
  return halves | (nan >> 15) * 0x7E00;
}

// Four codes of a byte each, first to last.
MXQ_FN void decode_bytes(unsigned word, float (&x)[4]) {
  // Six bits become the eight of e4m3 or e5m2: the same magnitude, its exponent less by a constant.
  constexpr bool WIDENS = IN_SIX && !CONVERTS;
  constexpr unsigned RAISE = !WIDENS ? 0 : IN_MANTISSA_BITS == 3 ? 6 : 12;
  if (WIDENS)
    word = (word & 0x1F1F1F1F) | (word << 2 & 0x80808080);
  else if (IN_SIX)
    word &= 0x3F3F3F3F;
  for (unsigned pair = 0; pair < 2; pair++) {
    unsigned halves;
    if constexpr (IN_MANTISSA_BITS == 2 && (WIDENS || !IN_SIX))
      halves = permute_bytes(word, 0, pair ? 0x3424 : 0x1404);
    else if constexpr (CONVERTS)
      halves = widen_pair<IN_EXPONENT_BITS, IN_MANTISSA_BITS>(word >> 16 * pair);
    else if constexpr (HAS_FP8)
      halves = widen_pair<4, 3>(word >> 16 * pair);
    else
      halves = widen_e4m3(word, pair);
    halves = raise_pair<RAISE>(halves);
    x[2 * pair] = widen_f16(halves & 0xFFFF);
    x[2 * pair + 1] = widen_f16(halves >> 16);
  }
}

// COUNT codes of four bits each: 8, or 4 in the low half of the word.
template <unsigned COUNT>
MXQ_FN void decode_nibbles(unsigned word, float (&x)[COUNT]) {
  // Without a conversion, codes i and i + COUNT/2 go together: they lie 16 bits apart.
  constexpr unsigned STEP = CONVERTS ? 1 : COUNT / 2;
  if (COUNT == 4 && !CONVERTS) word = permute_bytes(word, 0, 0x4140);
  for (unsigned i = 0; i < COUNT / 2; i++) {
    unsigned halves;
    if constexpr (CONVERTS) {
      halves = widen_pair<IN_EXPONENT_BITS, IN_MANTISSA_BITS>(word >> 8 * i);
    } else {
      const unsigned high = word << (12 - 4 * i);  // the code in each half's upper four bits
      halves = raise_pair<14>((high & 0x80008000) | (high >> 3 & 0x0E000E00));
    }
    const unsigned first = CONVERTS ? 2 * i : i;
    x[first] = widen_f16(halves & 0xFFFF);
    x[first + STEP] = widen_f16(halves >> 16);
  }
}

// COUNT codes that lie in `words` in order.
template <unsigned COUNT>
MXQ_FN void decode(const unsigned *words, float (&x)[COUNT]) {
  if constexpr (IN_BITS == 4) {
    decode_nibbles<COUNT>(words[0], x);
  } else {
    for (unsigned w = 0; w < COUNT / 4; w++) {
      float four[4];
      decode_bytes(words[w], four);
      for (unsigned i = 0; i < 4; i++) x[w * 4 + i] = four[i];
    }
  }
}

// Sixteen bytes of the output.
constexpr unsigned CHUNK = 128 / OUT_BITS;

MXQ_FN words4 round_chunk(const float (&x)[CHUNK]) {
  words4 chunk;
  for (unsigned w = 0; w < 4; w++) {
    if constexpr (OUT_BITS == 32)
      chunk.word[w] = float_bits(x[w]);
    else if constexpr (OUT_EXPONENT_BITS == 8)
      chunk.word[w] = round_pair_bf16(x[2 * w], x[2 * w + 1]);
    else
      chunk.word[w] = round_pair_f16(x[2 * w], x[2 * w + 1]);
  }
  return chunk;
}
