// SPDX-License-Identifier: MIT
// Goes behind templates/args.h and templates/device*.cuh: what the hardware's conversions give.

struct convert_args {
  const unsigned *begins[2];  // of e4m3 and e5m2: the smallest magnitude that gives each code
  unsigned counts[2];         // codes of one sign
  unsigned long long *wrong;  // how many floats
  unsigned *first;            // the smallest of them
};

// The code of a float, by the emulator's table.
template <int TYPE>
MXQ_FN unsigned expected(const convert_args &args, unsigned bits) {
  const unsigned magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7F;
  unsigned low = 0, high = args.counts[TYPE];
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (args.begins[TYPE][middle] <= magnitude)
      low = middle;
    else
      high = middle;
  }
  return low | (bits >> 31 ? 0x80 : 0);
}

// A float in the first place, its negative in the second.
template <int TYPE, unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN bool is_wrong(const convert_args &args, unsigned bits) {
  const unsigned other = bits ^ 0x80000000;
  const unsigned codes =
      narrow_pair<EXPONENT_BITS, MANTISSA_BITS>(bits_float(bits), bits_float(other));
  return codes != (expected<TYPE>(args, bits) | expected<TYPE>(args, other) << 8);
}

// All floats: 2^20 threads with 2^12 each.
MXQ_KERNEL(convert_all, 256, 4)(MXQ_ARGS(convert_args) args) {
  const unsigned begin = block_id() * 256 + thread_id();
  for (unsigned i = 0; i < 4096; i++) {
    const unsigned bits = begin + (i << 20);
    if (!is_wrong<0, 4, 3>(args, bits) && !is_wrong<1, 5, 2>(args, bits)) continue;
    atomicAdd(args.wrong, 1ull);
    atomicMin(args.first, bits);
  }
}

constexpr unsigned SAMPLE_RESULTS = 21;
struct sample_args {
  const unsigned *a, *b;
  unsigned *results[SAMPLE_RESULTS];
};

// The other primitives, on given words; in the order of test_gpu_convert's table.
MXQ_KERNEL(convert_sample, 256, 4)(MXQ_ARGS(sample_args) args) {
  const unsigned i = block_id() * 256 + thread_id(), a = args.a[i], b = args.b[i];
  const unsigned c = a % 2 ? multiply_pair_bf16(a, b) : a ^ b << 7;
  const unsigned results[SAMPLE_RESULTS] = {
      multiply_pair_bf16(a, b),
      multiply_pair_f16(a, b),
      multiply_add_pair_bf16(a, b, c),
      multiply_add_pair_f16(a, b, c),
      min_pair_bf16(a, b),
      min_pair_f16(a, b),
      float_bits(multiply_add(bits_float(a), bits_float(b), bits_float(c))),
      max_magnitude_pair_bf16(a, b),
      max_magnitude_pair_f16(a, b),
      float_bits(max_magnitude(bits_float(a), bits_float(b))),
      float_bits(multiply(bits_float(a), bits_float(b))),
      float_bits(min_number(bits_float(a), bits_float(b))),
      float_bits(widen_f16(a & 0xFFFF)),
      widen_pair<4, 3>(a),
      widen_pair<5, 2>(a),
      round_pair_bf16(bits_float(a), bits_float(b)),
      round_pair_f16(bits_float(a), bits_float(b)),
      permute_bytes(a, ~a, b & 0x7777),
      permute_signs(a, ~a, b),
      min_pair_u16(a, b),
      max_pair_u16(a, b),
  };
  for (unsigned r = 0; r < SAMPLE_RESULTS; r++) args.results[r][i] = results[r];
}
