# SPDX-License-Identifier: MIT
"""check_quantized.py IN.safetensors OUT.safetensors

Checks a quantized checkpoint without any code of mxq: both files are opened by the ordinary
safetensors reader, every scale and every element code is computed again from the input with numpy
and compared bit for bit, and the tensors that were not quantized must be equal to the input's.
Prints the signal-to-noise ratio of what the codes decode to. Exits 1 on any difference.
"""
import json
import sys

import numpy as np
import safetensors

# Of each output type: exponent bits, mantissa bits, exponent bias, largest value, its exponent.
FORMATS = {"e4m3": (4, 3, 7, 448.0, 8), "e5m2": (5, 2, 15, 57344.0, 15)}
BLOCK = 32
ROWS_AT_A_TIME = 4096  # a multiple of the block: bounds the memory


def widen(tensor):
    """A tensor of the file as float32, exactly."""
    data, shape = tensor["data"], tensor["shape"]
    if tensor["dtype"] == "BF16":
        bits = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return bits.view(np.float32).reshape(shape)
    return np.frombuffer(data, {"F32": "<f4", "F16": "<f2"}[tensor["dtype"]]).reshape(shape).astype(np.float32)


def magnitudes(out):
    """The finite non-negative values of a format by code."""
    exponent_bits, mantissa_bits, bias, largest, _ = FORMATS[out]
    codes = np.arange(1 << (exponent_bits + mantissa_bits))
    exponent, mantissa = codes >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
    fraction = mantissa / (1 << mantissa_bits) + (exponent > 0)
    values = np.ldexp(fraction, np.maximum(exponent, 1) - bias)
    return values[values <= largest]


def scale_bytes(maximum, out, mode):
    """The e8m0 bytes of blocks by their largest magnitudes."""
    _, _, _, largest, largest_exponent = FORMATS[out]
    if mode == "floor":
        scale = (maximum.view(np.uint32) >> 23).astype(np.int64) - largest_exponent
    elif mode == "rceil":
        bits = (maximum * np.float32(1 / largest)).view(np.uint32)
        exponent, mantissa = (bits >> 23).astype(np.int64), bits & 0x7FFFFF
        scale = exponent + np.where(exponent > 0, mantissa != 0, mantissa > 0x400000)
    else:
        sys.exit("check: it does not know the mode '%s'" % mode)
    return np.where(np.isfinite(maximum), np.clip(scale, 0, 254), 255).astype(np.uint8)


def round_to_codes(values, out):
    """The codes of the nearest values, ties to the even code, saturating."""
    table = magnitudes(out)
    middles = (table[1:] + table[:-1]) / 2
    magnitude = np.abs(values).astype(np.float64)
    code = np.searchsorted(middles, magnitude, side="left")
    tie = (code < len(middles)) & (magnitude == middles[np.minimum(code, len(middles) - 1)])
    code = code + (tie & (code % 2 == 1))
    return (code | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def quantize_rows(rows, out, mode):
    """Codes and scale bytes of a (n, k) matrix whose blocks lie along n, and what they decode to."""
    blocks = -(-len(rows) // BLOCK)
    padded = np.zeros((blocks * BLOCK, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    scale = scale_bytes(np.abs(padded).reshape(blocks, BLOCK, -1).max(axis=1), out, mode)
    spread = scale.repeat(BLOCK, axis=0)[: len(rows)].astype(np.int64)
    multiplier = np.ldexp(1.0, 127 - spread).astype(np.float32)
    with np.errstate(all="ignore"):
        codes = round_to_codes(rows * multiplier, out)
    codes[spread == 255] = 0x7F
    decoded = magnitudes(out)[np.minimum(codes & 0x7F, len(magnitudes(out)) - 1)]
    decoded = np.where(codes & 0x80, -decoded, decoded) * np.ldexp(1.0, spread - 127)
    return codes, scale, np.where(spread == 255, np.nan, decoded)


def check_tensor(name, wide, data, scales, variant):
    """Compares one quantized tensor; returns the energies of its signal and of its noise."""
    _, _, out, _, mode, layout, scale_layout = variant.split("_")
    if (layout, scale_layout) not in (("row", "lin"), ("colt", "lin")):
        sys.exit("check: it does not know the layout '%s_%s'" % (layout, scale_layout))
    values = widen(wide)
    values = values.reshape((-1,) + values.shape[-2:])
    scale = np.frombuffer(scales["data"], np.uint8)
    if layout == "row":  # the codes of colt for the transposed matrix; only the scales differ
        values = values.swapaxes(1, 2)
    e, n, k = values.shape
    codes = np.frombuffer(data["data"], np.uint8).reshape(e, k, n)
    blocks = -(-n // BLOCK)
    scale = (scale.reshape(e, k, blocks).swapaxes(1, 2) if layout == "row" else
             scale.reshape(e, blocks, k))
    signal = noise = 0.0
    for matrix in range(e):
        for row in range(0, n, ROWS_AT_A_TIME):
            rows = values[matrix, row : row + ROWS_AT_A_TIME]
            want, want_scale, decoded = quantize_rows(rows, out, mode)
            block = row // BLOCK
            same = np.array_equal(codes[matrix, :, row : row + len(rows)].T, want)
            same &= np.array_equal(scale[matrix, block : block + len(want_scale)], want_scale)
            if not same:
                sys.exit("check: %s differs from what numpy computes, in matrix %d between rows "
                         "%d and %d" % (name, matrix, row, row + len(rows)))
            finite = np.isfinite(decoded)
            signal += np.sum(rows[finite].astype(np.float64) ** 2)
            noise += np.sum((rows[finite] - decoded[finite]) ** 2)
    return signal, noise


def decibels(signal, noise):
    return 10 * np.log10(signal / noise) if noise > 0 < signal else float("inf")


def read(path):
    """The file's tensors by name, and its metadata."""
    with safetensors.safe_open(path, framework="numpy") as reader:
        metadata = reader.metadata() or {}
    with open(path, "rb") as file:
        return dict(safetensors.deserialize(file.read())), metadata


def main(in_path, out_path):
    (given, _), (made, metadata) = read(in_path), read(out_path)
    if "mxq" not in metadata:
        sys.exit("check: %s has no metadata of mxq" % out_path)
    variant = json.loads(metadata["mxq"])["variant"]
    quantized, copied, expected, energies = 0, 0, set(), []
    for name, tensor in given.items():
        expected.add(name)
        if name + ".scale" in made and name + ".scale" not in given:
            expected.add(name + ".scale")
            energies.append(check_tensor(name, tensor, made[name], made[name + ".scale"], variant))
            quantized += 1
        elif made.get(name) == tensor:
            copied += 1
        else:
            sys.exit("check: %s is missing or was changed without being quantized" % name)
    if set(made) != expected:
        sys.exit("check: tensors that nobody asked for: %s" % sorted(set(made) - expected))
    if not quantized:
        sys.exit("check: not one tensor was quantized")
    print("%d tensors quantized, every scale and code equal to what numpy computes" % quantized)
    print("%d tensors copied unchanged" % copied)
    print("signal-to-noise ratio %.1f dB over all quantized tensors, %.1f dB for the worst"
          % (decibels(*np.sum(energies, axis=0)), min(decibels(*pair) for pair in energies)))


main(*sys.argv[1:])
