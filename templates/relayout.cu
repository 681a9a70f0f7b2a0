//$ paste("args.h", {launch = "relayout"})
//$ paste "device.cuh"
// The scales.
constexpr unsigned SCALE_BITS = ${mode.scale_bits};
constexpr bool SCALES_BLK = ${scales.token == "blk"};  // else mn
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};

using length = unsigned long long;

// The place of a scale in a matrix of `lin`.
MXQ_FN length lin_place(const mxq_relayout_launch &args, length line, length column) {
  return args.columns_inner ? line * args.columns + column : column * args.lines + line;
}

// Of e8m0 scales in the other layout: contract, section 4; of a block the copy in its first row.
MXQ_FN length packed_place(const mxq_relayout_launch &args, length row, length column) {
  if constexpr (SCALES_BLK)
    return (row / 128 * args.pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
           column % 4;
  return (column / 4 * args.pitch + row) * 4 + column % 4;
}

// Writes word `at` of matrix e, the scales of four columns in one row.
MXQ_FN void pack_word(const mxq_relayout_launch &args, length e, length at) {
  const length tile = at / 128, in_tile = at % 128;
  const length row =
      SCALES_BLK ? tile / args.pitch * 128 + in_tile % 4 * 32 + in_tile / 4 : at % args.pitch;
  const length quad = SCALES_BLK ? tile % args.pitch : at / args.pitch;
  const unsigned char *const from = args.src + e * args.lines * args.columns;
  unsigned word = 0;
  for (unsigned j = 0; j < 4; j++)
    if (row < args.rows && quad * 4 + j < args.columns)
      word |= static_cast<unsigned>(global_load(
                  from + lin_place(args, row / args.block, quad * 4 + j)))
              << 8 * j;
  unsigned char *const to = args.dst + (e * args.places_e + at) * 4;
  if (reinterpret_cast<length>(to) % 4 == 0)
    global_store(reinterpret_cast<unsigned *>(to), word);
  else
    for (unsigned j = 0; j < 4; j++) global_store(to + j, static_cast<unsigned char>(word >> 8 * j));
}

// Writes float `at` of matrix e.
MXQ_FN void move_float(const mxq_relayout_launch &args, length e, length at) {
  const unsigned *const from = reinterpret_cast<const unsigned *>(args.src) +
                               e * args.lines * args.columns;
  const length outer = at / args.pitch, inner = at % args.pitch;
  const length line = args.squares ? outer : inner, column = args.squares ? inner : outer;
  const bool inside = line < args.lines && column < args.columns;
  global_store(reinterpret_cast<unsigned *>(args.dst) + e * args.places_e + at,
               inside ? global_load(from + lin_place(args, line, column)) : 0u);
}

// Writes scale `at` of matrix e in `lin`.
MXQ_FN void move_to_lin(const mxq_relayout_launch &args, length e, length at) {
  const length width = args.columns_inner ? args.columns : args.lines;
  const length line = args.columns_inner ? at / width : at % width;
  const length column = args.columns_inner ? at % width : at / width;
  if constexpr (SCALE_BITS == 8) {
    global_store(args.dst + e * args.places_e + at,
                 global_load(args.src + e * args.stride_e +
                             packed_place(args, line * args.block, column)));
  } else {
    const length place = args.squares ? line * args.pitch + column : column * args.pitch + line;
    global_store(reinterpret_cast<unsigned *>(args.dst) + e * args.places_e + at,
                 global_load(reinterpret_cast<const unsigned *>(args.src) + e * args.stride_e + place));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_relayout_launch) args) {
  const length step = static_cast<length>(grid_size()) * THREADS;
  for (length place = static_cast<length>(block_id()) * THREADS + thread_id(); place < args.places;
       place += step) {
    const length e = place / args.places_e, at = place % args.places_e;
    if (args.to_lin)
      move_to_lin(args, e, at);
    else if constexpr (SCALE_BITS == 8)
      pack_word(args, e, at);
    else
      move_float(args, e, at);
  }
}
