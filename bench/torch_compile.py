#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a user of PyTorch would write instead of mxq: the formula of quantize_bf16_e4m3_b32_rceil, rows
and transposed columns, through torch.compile; timed as mxq-bench times kernels (graphs of many
launches over rotating inputs, medians), its bytes compared with those of the program mxq.

    bench/torch_compile.py --mxq build/bin/mxq [--shape E,N,K]... > torch.json

JSON on standard output, progress on standard error. Exit 3 where PyTorch or a GPU is missing, 4 where
a byte differs."""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"torch_compile.py: {missing}", file=sys.stderr)
    sys.exit(3)

BLOCK = 32
SHAPES = [(8, 8192, 5120), (8, 7168, 2048), (1, 2048, 2048)]
CHECKED = (1, 2048, 2048)


def scale_of(largest):
    """Scale bytes and multipliers of blocks by their maxima: mode rceil of docs/semantics.md."""
    bits = (largest * (1.0 / 448)).view(torch.int32)
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    code = exponent + torch.where(exponent > 0, mantissa != 0, mantissa > 0x400000).to(torch.int32)
    code = torch.where(torch.isfinite(largest), code, 255)
    multiplier = torch.where(code < 254, (254 - code) << 23, 0x00400000).view(torch.float32)
    return code, torch.where(code == 255, float("nan"), multiplier)


def codes_of(values, multiplier):
    return (values * multiplier).clamp(-448, 448).to(torch.float8_e4m3fn)


def row(x):
    e, n, k = x.shape
    blocks = x.float().view(e, n, k // BLOCK, BLOCK)
    code, multiplier = scale_of(blocks.abs().amax(-1, keepdim=True))
    return codes_of(blocks, multiplier).view(e, n, k), code.to(torch.uint8).view(e, n, k // BLOCK)


def colt(x):
    e, n, k = x.shape
    blocks = x.float().view(e, n // BLOCK, BLOCK, k)
    code, multiplier = scale_of(blocks.abs().amax(2, keepdim=True))
    turned = codes_of(blocks, multiplier).view(e, n, k).transpose(1, 2).contiguous()
    return turned, code.to(torch.uint8).view(e, n // BLOCK, k)


def tensor_of(shape, seed):
    """Normal numbers; a different power of two for each block."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(shape, device="cuda", generator=generator)
    exponents = torch.randint(-20, 20, (shape[0], shape[1] // BLOCK, 1, shape[2] // BLOCK, 1),
                              device="cuda", generator=generator)
    blocks = x.view(shape[0], shape[1] // BLOCK, BLOCK, shape[2] // BLOCK, BLOCK)
    return (blocks * torch.exp2(exponents.float())).view(shape).to(torch.bfloat16)


def count_differences(mxq, layout, function):
    """Bytes in which codes and scales differ from those of the program, on its GPU path."""
    x = tensor_of(CHECKED, 7)
    codes, scales = function(x)
    with tempfile.TemporaryDirectory() as folder:
        given, made = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        save_file({"x": x.cpu()}, given)
        subprocess.run([mxq, "quantize", given, "-o", made, "--device", "cuda:0", "--variant",
                        f"quantize_bf16_e4m3_b32_rceil_{layout}_lin"], check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wanted = load_file(made)
    differing = (codes.cpu().view(torch.uint8) != wanted["x"].view(torch.uint8)).sum()
    return int(differing + (scales.cpu() != wanted["x.scale"].view(torch.uint8)).sum())


def sets_of(total, l2):
    """As bench/buffers.c: inside the L2 cache where three sets fit in two thirds of it, otherwise four
    times its size before a byte comes up again."""
    sets = l2 // 3 * 2 // total if 3 * total <= l2 // 3 * 2 else -(-4 * l2 // total)
    return max(2, min(32, sets))


def time_launches(function, shape, repetitions):
    """Microseconds of a launch, of every repetition."""
    elements = shape[0] * shape[1] * shape[2]
    total = elements * 3 + elements // BLOCK
    sets = sets_of(total, torch.cuda.get_device_properties(0).L2_cache_size)
    inputs = [tensor_of(shape, i) for i in range(sets)]
    outputs = [None] * sets
    launches = -(-max(10, int(6000 / (total / 4e6 + 2))) // sets) * sets
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(launches):
            outputs[i % sets] = function(inputs[i % sets])
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    series = []
    with torch.cuda.stream(stream):
        for i in range(2 + repetitions):
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if i >= 2:
                series.append(begin.elapsed_time(end) * 1e3 / launches)
    return series, sets, launches


def measure(mxq, layout, formula, shape, repetitions):
    torch._dynamo.reset()
    function = torch.compile(formula, dynamic=False)
    x = tensor_of(shape, 1)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    function(x)
    torch.cuda.synchronize()
    first = time.perf_counter() - begin
    differing = count_differences(mxq, layout, function) if shape == CHECKED else None
    series, sets, launches = time_launches(function, shape, repetitions)
    result = {"layout": layout, "shape": shape, "us": round(statistics.median(series), 4),
              "series_us": [round(us, 4) for us in series], "sets": sets, "launches": launches,
              "first_use_ms": round(first * 1e3, 1)}
    if differing is not None:
        result["bytes_that_differ"] = differing
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mxq", required=True, help="the program to compare bytes with")
    parser.add_argument("--shape", action="append", help="E,N,K, multiples of 32; several allowed")
    parser.add_argument("--reps", type=int, default=9, help="repetitions; 9 if not given")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("torch_compile.py: PyTorch finds no GPU", file=sys.stderr)
        return 3
    shapes = [tuple(map(int, text.split(","))) for text in options.shape or []] or SHAPES
    rows = []
    for shape in shapes:
        for layout, formula in ("row", row), ("colt", colt):
            print(f"torch.compile: {layout} {shape}", file=sys.stderr)
            rows.append(measure(options.mxq, layout, formula, shape, options.reps))
    json.dump({"torch_compile": 1, "torch": torch.__version__, "date": datetime.datetime.now(
        datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": [os.path.basename(word) if word.startswith("/") else word for word in sys.argv],
        "device": torch.cuda.get_device_name(0), "formula": "quantize_bf16_e4m3_b32_rceil_*_lin",
        "repetitions": options.reps, "rows": rows}, sys.stdout, indent=1)
    print()
    return 4 if any(row.get("bytes_that_differ") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
