// Sixteen bytes, moved in one access.
struct alignas(16) words4 {
  unsigned word[4];
};

// Where a tile begins, in elements.
struct tile_place {
  unsigned n, k, e;
};

MXQ_FN unsigned divide(unsigned x, const mxq_divisor &by) {
  return (multiply_high(x, by.multiplier) + x) >> by.shift;
}

MXQ_FN tile_place place_of(const mxq_tma_args &args, unsigned tile) {
  const unsigned strip = divide(tile, args.tiles_n);
  const unsigned e = divide(strip, args.tiles_k);
  return {(tile - strip * args.tiles_n.value) * TILE_N, (strip - e * args.tiles_k.value) * TILE_K, e};
}

// The 128-byte swizzle of a tensor map: bits 4 to 6 of a shared address are xored with bits 7 to 9.
MXQ_FN unsigned swizzle_128(unsigned offset) { return offset ^ (offset >> 3 & 0x70); }

// Scales of neighbouring columns k of block row `block` of matrix e, in one access. `lin`: (E,
// ceil(N/B), K).
MXQ_FN void store_scales(const mxq_tma_args &args, unsigned e, unsigned block, unsigned k,
                         const block_scale (&scale)[COLUMNS]) {
  unsigned char *to = args.scale + e * args.scale_stride_e +
                      static_cast<unsigned long long>(block) * args.k + k;
  if constexpr (COLUMNS == 2)
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(scale[0].code | scale[1].code << 8));
  else
    global_store(to, static_cast<unsigned char>(scale[0].code));
}
