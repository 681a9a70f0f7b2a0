# SPDX-License-Identifier: MIT
"""Holds registers, shared memory, spills and instructions of the main kernels to tests/limits.txt,
without a GPU: compiled by mxq, counted by NVIDIA's disassembler (script/bootstrap --tests).

    tests/limits.py MXQ            compare; exit 77 where NVRTC or the disassembler is missing
    tests/limits.py MXQ --quick    the same with a tenth of the kernels
    tests/limits.py MXQ --update   write tests/limits.txt anew, in a change that says why
    tests/limits.py MXQ --json     what was found, for docs/performance.md"""
import fnmatch
import glob
import json
import math
import multiprocessing.pool
import os
import re
import shutil
import subprocess
import sys
import tempfile

import sass

HERE = os.path.dirname(os.path.abspath(__file__))
LIMITS = os.path.join(HERE, "limits.txt")
SLACK = 1.02  # of instruction counts: what another build of the same NVRTC may differ by
SHAPES = {"large": "8 7168 2048", "tiny": "1 128 256", "odd": "8 7165 2045"}

# Variants by a glob, the arch, and the sizes of tensors whose kernels are looked at.
SELECTED = [
    ("quantize_*_b*_rceil_*_lin", "90a", ["large"], r"_(bf16|f32)_(e4m3|e2m1)_b(32|128)_"),
    ("quantize_bf16_e4m3_b32_rceil_*_blk", "90a", ["large"], ""),
    ("quantize_bf16_e4m3_b32_rceil_*_mn", "90a", ["large"], ""),
    ("quantize_bf16_e4m3_b128_amax_*_mn", "90a", ["large"], "_(row|sq|colt)_"),
    ("dequantize_e4m3_bf16_b32_e8m0_*_lin", "90a", ["large", "odd"], ""),
    ("dequantize_e2m1_bf16_b32_e8m0_*_lin", "90a", ["large"], "_(row|colt)_"),
    ("quantize_bf16_e4m3_b32_rceil_*_lin", "90a", ["tiny", "odd"], ""),
    ("quantize_bf16_e?m?_b32_rceil_*_lin", "100a", ["large"], "_(e4m3|e2m1)_.*_(row|colt|rowcolt)_"),
    ("quantize_bf16_e4m3_b32_rceil_*_lin", "90a", ["large"], "_(row|colt|rowcolt)_"),
]
QUICK = -2  # where those of --quick begin
ARCHS = ["90a", "100a"]

# Thread instructions an element that these should need (docs/performance.md).
TARGETS = {"quantize_bf16_e4m3_b32_rceil_row_lin": 6, "quantize_bf16_e4m3_b32_rceil_colt_lin": 6,
           "quantize_bf16_e4m3_b32_rceil_rowcolt_lin": 12, "quantize_f32_e4m3_b32_rceil_colt_lin": 8,
           "quantize_bf16_e2m1_b32_rceil_colt_lin": 9}
COLUMNS = ["registers", "shared_bytes", "instructions", "per_element"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode == 3:
        skip(result.stderr.strip())
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def find_disassembler():
    wheel = f"{HERE}/../.venv/lib/python3*/site-packages/nvidia/*/bin/nvdisasm"
    found = glob.glob(wheel) or [shutil.which("nvdisasm") or "/usr/local/cuda/bin/nvdisasm"]
    if not os.access(found[0], os.X_OK):
        skip("no nvdisasm: script/bootstrap --tests installs it")
    return found[0]


def nvrtc_version(mxq):
    found = re.search(r"^NVRTC +(\d+\.\d+),", run(mxq, "info"), re.M)
    if not found:
        skip("no NVRTC")
    return found[1]


def select(mxq, quick):
    """(variant, arch, size) and the plan of the kernel that such a tensor gets, each kernel once."""
    chosen, names = {}, run(mxq, "list").split()
    for pattern, arch, sizes, also in SELECTED[QUICK:] if quick else SELECTED:
        for name in fnmatch.filter(names, pattern):
            for size in sizes if re.search(also, name) else []:
                plan = json.loads(run(mxq, "plan", name, *SHAPES[size].split(), "--arch", arch, "--json"))
                if all((plan["kernel"], arch) != (p["kernel"], a) for (_, a, _), p in chosen.items()):
                    chosen[name, arch, size] = plan
    return chosen


def measure_some(mxq, disassembler, folder, arch, plans):
    """One process for several kernels: opening NVRTC takes as long as compiling one."""
    names = [plan["kernel"] for plan in plans]
    compiled = json.loads(run(mxq, "compile", *names, "--arch", arch, "--keep", folder, "--json"))
    return [measure_one(disassembler, folder, arch, *pair) for pair in zip(plans, compiled)]


def measure_one(disassembler, folder, arch, plan, compiled):
    count, path = sass.count(run(disassembler, "-ndf", "-c", f"{folder}/{plan['kernel']}.sm_{arch}.cubin"))
    elements = plan["tile_n"] * plan["tile_k"] / plan["threads"]
    found = {"registers": compiled["registers"], "shared_bytes": plan["shared_bytes"], "instructions": count}
    spills = sum(compiled[key] for key in ["spill_store_bytes", "spill_load_bytes", "stack_bytes"])
    # The generic kernels loop over their tile: how often the counts do not tell.
    found["per_element"] = None if ".any" in plan["kernel"] else round(path / elements, 2)
    return dict(found, kernel=plan["kernel"], spills=spills)


def measure(mxq, quick=False):
    disassembler = find_disassembler()
    chosen = select(mxq, quick)
    batches = [list(chosen)[i:i + 8] for i in range(0, len(chosen), 8)]
    batches = [[key for key in batch if key[1] == arch] for batch in batches for arch in ARCHS]
    with tempfile.TemporaryDirectory() as folder, multiprocessing.pool.ThreadPool() as pool:
        os.environ["MXQ_CACHE_DIR"] = os.path.join(folder, "cache")
        rows = pool.starmap(measure_some, [
            (mxq, disassembler, folder, batch[0][1], [chosen[key] for key in batch])
            for batch in batches if batch])
    return dict(zip(sum(batches, []), sum(rows, [])))


def read_limits():
    """The NVRTC that they are of, and (variant, arch, size) -> limits by column."""
    version, limits = None, {}
    with open(LIMITS, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if line.startswith("# NVRTC"):
                version = fields[2].rstrip(";")
            elif fields and not line.startswith("#"):
                values = [None if text == "-" else float(text) for text in fields[3:]]
                limits[tuple(fields[:3])] = dict(zip(COLUMNS, values))
    return version, limits


def text_of(value):
    return "-" if value is None else f"{value:g}"


def update(rows, version):
    with open(LIMITS, "w", encoding="utf-8") as file:
        file.write("# What the main kernels may need, made by: tests/limits.py build/bin/mxq --update\n"
                   f"# NVRTC {version}; no spills; instructions of the whole kernel and thread instructions an\n"
                   "# element (tests/sass.py) with 2 % to spare.\n"
                   "# variant, arch, size of the tensor (tests/limits.py), " + ", ".join(COLUMNS) + "\n")
        for (variant, arch, size), row in rows.items():
            spare = dict(row, instructions=math.ceil(row["instructions"] * SLACK))
            if row["per_element"] is not None:
                spare["per_element"] = math.ceil(row["per_element"] * SLACK * 100) / 100
            values = "".join(f" {text_of(spare[column]):>6}" for column in COLUMNS)
            file.write(f"{variant:<44} {arch:<4} {size:<5}{values}\n")


def compare(rows, limits):
    faults = [f"{' '.join(key)}: no limits" for key in rows if key not in limits]
    faults += [f"{' '.join(key)}: limits, but no such kernel" for key in limits if key not in rows]
    for key, row in rows.items():
        allowed = dict(limits.get(key, {}), spills=0)
        for column, most in allowed.items():
            if most is not None and (row[column] is None or row[column] > most):
                faults.append(f"{' '.join(key)}: {column} {text_of(row[column])}, allowed {text_of(most)} "
                              f"(mxq source {key[0]} --arch {key[1]} --kernel {row['kernel']})")
    return faults


def as_json(rows, version):
    listed = [dict(row, variant=variant, arch=arch, size=size, **(
        {"target": TARGETS[variant]} if variant in TARGETS and size == "large" else {}))
        for (variant, arch, size), row in rows.items()]
    lines = ",\n".join(json.dumps(row) for row in listed)
    print(f'{{"instructions": 1, "nvrtc": "{version}", "rows": [\n{lines}\n]}}')


def main():
    mxq, option = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    version = nvrtc_version(mxq)
    if option == "--update":
        update(measure(mxq), version)
    elif option == "--json":
        as_json(measure(mxq), version)
    else:
        limited, limits = read_limits()
        if limited != version:
            skip(f"the limits are of NVRTC {limited}, this one is {version}")
        rows = measure(mxq, option == "--quick")
        if option == "--quick":
            limits = {key: limit for key, limit in limits.items() if key in rows}
        faults = compare(rows, limits)
        print("\n".join(faults + [f"{len(rows)} kernels, {len(faults)} over their limits"]))
        if faults:
            print("tests/limits.py build/bin/mxq --update writes tests/limits.txt anew")
        return 1 if faults or not rows else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
