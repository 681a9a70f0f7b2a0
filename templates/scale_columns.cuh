// The scales of a word's columns from their largest magnitudes; of columns that share a block, which
// hold the same one, from the high half: there a magnitude takes no shift.
template <bool SHARE>
MXQ_FN void scales_of_columns(unsigned largest, block_scale (&scale)[COLUMNS]) {
  constexpr unsigned LAST = COLUMNS - 1;
  scale[LAST] = scale_of(column_magnitude(largest, LAST));
  if constexpr (LAST > 0) scale[0] = SHARE ? scale[LAST] : scale_of(column_magnitude(largest, 0));
}
