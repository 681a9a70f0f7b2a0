using length = unsigned long long;

// Where a tile of a generic kernel begins, and how much of it exists: nothing of those that cover the
// padding of scales alone.
struct tile_extent {
  length n, k, e;
  unsigned rows, columns;
};

MXQ_FN unsigned part_inside(length begin, length end, unsigned most) {
  return begin >= end ? 0 : end - begin < most ? static_cast<unsigned>(end - begin) : most;
}

// Tiles with N fastest where codes are column-major, so that blocks that run at one time write
// neighbouring pieces of a line; with K fastest otherwise.
template <bool N_FIRST, class ARGS>
MXQ_FN tile_extent extent_of(const ARGS &args, length tile) {
  const length inner = N_FIRST ? args.tiles_n : args.tiles_k;
  const length outer = N_FIRST ? args.tiles_k : args.tiles_n;
  const length strip = tile / inner, first = tile - strip * inner;
  const length e = strip / outer, second = strip - e * outer;
  const length n = (N_FIRST ? first : second) * TILE_N, k = (N_FIRST ? second : first) * TILE_K;
  return {n, k, e, part_inside(n, args.n, TILE_N), part_inside(k, args.k, TILE_K)};
}
