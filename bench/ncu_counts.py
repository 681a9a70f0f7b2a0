#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Nsight Compute (ncu) counts of the main kernels: thread instructions an element, the share of
issue slots used, and bytes to and from the DRAM.

    bench/ncu_counts.py build/bin/mxq-bench > profile.json

Exit 3 where ncu is missing or may not read the counters."""
import json
import math
import sys

import ncu

SHAPE = (8, 7168, 2048)
VARIANTS = ["quantize_bf16_e4m3_b32_rceil_row_lin", "quantize_bf16_e4m3_b32_rceil_colt_lin",
            "quantize_bf16_e4m3_b32_rceil_rowcolt_lin", "quantize_f32_e4m3_b32_rceil_colt_lin",
            "quantize_bf16_e2m1_b32_rceil_row_lin", "quantize_bf16_e2m1_b32_rceil_colt_lin",
            "quantize_bf16_e2m1_b32_rceil_rowcolt_lin", "dequantize_e4m3_bf16_b32_e8m0_colt_lin"]


def row_of(kernel, shape, launch):
    def counted(metric, digits=None, over=1):
        """Null where it was not counted: JSON has no NaN."""
        value = launch.metrics.get(metric, math.nan)
        return None if math.isnan(value) else round(value / over, digits)

    return {"kernel": kernel, "per_element": counted(ncu.INSTRUCTIONS, 2, math.prod(shape)),
            "issue_slots_percent": counted(ncu.ISSUED, 1), "dram_bytes_read": counted(ncu.READ),
            "dram_bytes_written": counted(ncu.WRITTEN)}


def main():
    profiled = ncu.profile(sys.argv[1], ["--shape", ",".join(map(str, SHAPE)), *VARIANTS], ncu.CORE)
    lines = ",\n".join(json.dumps(row_of(kernel, shape, launch)) for kernel, shape, launch, _ in profiled)
    print(f'{{"profile": 1, "shape": {list(SHAPE)}, "rows": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
