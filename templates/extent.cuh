using length = unsigned long long;

// A tile's number along the faster axis and along the slower one, and its matrix; or how far two tiles
// lie apart.
struct tile_number {
  length inner, outer, e;
};

// Along the faster axis blocks that run at one time write neighbouring pieces of a line.
template <class ARGS>
MXQ_FN tile_number number_of(const ARGS &args, unsigned tile) {
  const mxq_divisor &by_inner = TILES_BY_K ? args.by_tiles_k : args.by_tiles_n;
  const mxq_divisor &by_outer = TILES_BY_K ? args.by_tiles_n : args.by_tiles_k;
  const unsigned strip = divide(tile, by_inner), e = divide(strip, by_outer);
  return {tile - strip * by_inner.value, strip - e * by_outer.value, e};
}

// The tile that lies `step` behind one: as numbers are added by hand, digit by digit.
template <class ARGS>
MXQ_FN tile_number number_behind(const ARGS &args, tile_number at, const tile_number &step) {
  const length inner = TILES_BY_K ? args.tiles_k : args.tiles_n;
  const length outer = TILES_BY_K ? args.tiles_n : args.tiles_k;
  at.inner += step.inner;
  at.outer += step.outer + (at.inner >= inner);
  at.e += step.e + (at.outer >= outer);
  if (at.inner >= inner) at.inner -= inner;
  if (at.outer >= outer) at.outer -= outer;
  return at;
}

// The tile that a block takes in its pass `pass` over the grid, found anew each time: few grids are passed
// twice, and it would take registers to remember.
template <class ARGS>
MXQ_FN tile_number number_in_pass(const ARGS &args, unsigned pass) {
  tile_number at = number_of(args, block_id());
#pragma unroll 1
  for (; pass != 0; pass--) at = number_behind(args, at, number_of(args, grid_size()));
  return at;
}
template <class ARGS>
MXQ_FN bool exists_in_pass(const ARGS &args, unsigned pass) {
  return block_id() + static_cast<length>(pass) * grid_size() < args.tiles;
}

// Where a tile begins, and how much of it exists: nothing of those that cover the padding of scales
// alone.
// Behind it, `rows_behind` and `columns_behind` more exist: as many as a tile stand for more.
struct tile_extent {
  length n, k, e;
  unsigned rows, columns, rows_behind, columns_behind;
};

MXQ_FN unsigned part_inside(length begin, length end, unsigned most) {
  return begin >= end ? 0 : end - begin < most ? static_cast<unsigned>(end - begin) : most;
}

template <class ARGS>
MXQ_FN tile_extent extent_of(const ARGS &args, const tile_number &at) {
  const length n = (TILES_BY_K ? at.outer : at.inner) * TILE_N;
  const length k = (TILES_BY_K ? at.inner : at.outer) * TILE_K;
  const unsigned n_left = part_inside(n, args.n, 2 * TILE_N), k_left = part_inside(k, args.k, 2 * TILE_K);
  const unsigned rows = n_left < TILE_N ? n_left : TILE_N, columns = k_left < TILE_K ? k_left : TILE_K;
  return {n, k, at.e, rows, columns, n_left - rows, k_left - columns};
}
