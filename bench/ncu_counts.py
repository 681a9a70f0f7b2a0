#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Nsight Compute (ncu) counts of the main kernels: thread instructions an element, the share of
issue slots used, and bytes to and from the DRAM.

    bench/ncu_counts.py build/bin/mxq-bench > profile.json

Exit 3 where ncu is missing or may not read the counters."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys

SHAPE = (8, 7168, 2048)
VARIANTS = ["quantize_bf16_e4m3_b32_rceil_row_lin", "quantize_bf16_e4m3_b32_rceil_colt_lin",
            "quantize_bf16_e4m3_b32_rceil_rowcolt_lin", "quantize_f32_e4m3_b32_rceil_colt_lin",
            "quantize_bf16_e2m1_b32_rceil_row_lin", "quantize_bf16_e2m1_b32_rceil_colt_lin",
            "quantize_bf16_e2m1_b32_rceil_rowcolt_lin", "dequantize_e4m3_bf16_b32_e8m0_colt_lin"]
INSTRUCTIONS = "smsp__thread_inst_executed.sum"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"


def skip(why):
    print(f"ncu_counts.py: {why}", file=sys.stderr)
    sys.exit(3)


def kernel_of(bench, variant):
    shape = ",".join(map(str, SHAPE))
    listed = subprocess.run([bench, "--list", "--shape", shape, variant], capture_output=True, text=True)
    return listed.stdout.split()[0]


def profile(ncu, bench, kernel):
    """The metrics of the kernel's first launch."""
    symbol = re.sub(r"\W", "_", kernel)
    command = [ncu, "--clock-control", "none", "--csv", "--print-units", "base", "--metrics",
               ",".join([INSTRUCTIONS, ISSUED, READ, WRITTEN]), "-k", symbol, "-c", "1", bench, "--reps", "1",
               "--shape", ",".join(map(str, SHAPE)), kernel]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = [line for line in result.stdout.splitlines() if line.startswith('"')]
    if result.returncode or len(lines) < 2:
        skip(f"ncu did not profile {kernel}: {(result.stdout + result.stderr).strip()[-500:]}")
    return {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(lines)}


def main():
    bench, ncu = sys.argv[1], shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if not os.access(ncu, os.X_OK):
        skip("no ncu")
    elements, rows = SHAPE[0] * SHAPE[1] * SHAPE[2], []
    for variant in VARIANTS:
        kernel = kernel_of(bench, variant)
        print(f"ncu: {kernel}", file=sys.stderr)
        found = profile(ncu, bench, kernel)
        rows.append({"kernel": kernel, "per_element": round(found[INSTRUCTIONS] / elements, 2),
                     "issue_slots_percent": round(found[ISSUED], 1), "dram_bytes_read": int(found[READ]),
                     "dram_bytes_written": int(found[WRITTEN])})
    lines = ",\n".join(json.dumps(row) for row in rows)
    print(f'{{"profile": 1, "shape": {list(SHAPE)}, "rows": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
