using length = unsigned long long;

// A tile's number along the faster axis and along the slower one, and its matrix; or how far two tiles
// lie apart.
struct tile_number {
  length inner, outer, e;
};

// N is the faster axis where codes are column-major, so that blocks that run at one time write
// neighbouring pieces of a line.
template <class ARGS>
MXQ_FN tile_number number_of(const ARGS &args, unsigned tile) {
  const mxq_divisor &by_inner = COLUMN_MAJOR ? args.by_tiles_n : args.by_tiles_k;
  const mxq_divisor &by_outer = COLUMN_MAJOR ? args.by_tiles_k : args.by_tiles_n;
  const unsigned strip = divide(tile, by_inner), e = divide(strip, by_outer);
  return {tile - strip * by_inner.value, strip - e * by_outer.value, e};
}

// The tile that lies `step` behind one: as numbers are added by hand, digit by digit.
template <class ARGS>
MXQ_FN tile_number number_behind(const ARGS &args, tile_number at, const tile_number &step) {
  const length inner = COLUMN_MAJOR ? args.tiles_n : args.tiles_k;
  const length outer = COLUMN_MAJOR ? args.tiles_k : args.tiles_n;
  at.inner += step.inner;
  at.outer += step.outer + (at.inner >= inner);
  at.e += step.e + (at.outer >= outer);
  if (at.inner >= inner) at.inner -= inner;
  if (at.outer >= outer) at.outer -= outer;
  return at;
}

// Where a tile begins, and how much of it exists: nothing of those that cover the padding of scales
// alone.
struct tile_extent {
  length n, k, e;
  unsigned rows, columns;
};

MXQ_FN unsigned part_inside(length begin, length end, unsigned most) {
  return begin >= end ? 0 : end - begin < most ? static_cast<unsigned>(end - begin) : most;
}

template <class ARGS>
MXQ_FN tile_extent extent_of(const ARGS &args, const tile_number &at) {
  const length n = (COLUMN_MAJOR ? at.inner : at.outer) * TILE_N;
  const length k = (COLUMN_MAJOR ? at.outer : at.inner) * TILE_K;
  return {n, k, at.e, part_inside(n, args.n, TILE_N), part_inside(k, args.k, TILE_K)};
}
