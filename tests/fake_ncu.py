# SPDX-License-Identifier: MIT
"""Nsight Compute as tests/reasons.py needs it: knows the metrics in FAKE_NCU_METRICS, a JSON file of
values by name, and prints what ncu 2025.3 prints for --csv --print-units base of the kernels that
`mxq-bench --once` launches. FAKE_NCU_DENY: as where counters may not be read."""
import json
import os
import subprocess
import sys

HEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
        "Grid Size", "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]


def line(cells):
    print(",".join(f'"{cell}"' for cell in cells))


def main():
    arguments = sys.argv[1:]
    metrics = arguments[arguments.index("--metrics") + 1].split(",")
    program = arguments[arguments.index("--metrics") + 2:]
    assert "--csv" in arguments and program[-1] == "--once", arguments
    print("==PROF== Connected to process 4321 (/tmp/mxq-bench)")
    if "FAKE_NCU_DENY" in os.environ:
        print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
              "Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.")
        sys.exit(1)
    with open(os.environ["FAKE_NCU_METRICS"], encoding="utf-8") as file:
        values = json.load(file)
    for metric in metrics:
        if metric not in values:
            name = metric.split(".")[0]
            print(rf"==ERROR== Failed to find metric regex:^{name}\.(sum|min|max|avg|pct|ratio|max_rate)$")
            sys.exit(1)
    listed = subprocess.run([*program[:-1], "--list"], capture_output=True, text=True, check=True)
    line(HEAD)
    index = 0
    for kernel in [row.split()[0] for row in listed.stdout.splitlines()]:
        for name in ["straight", kernel.replace(".", "_").replace("-", "_")]:
            for metric in metrics:
                line([index, 4321, "mxq-bench", "127.0.0.1", name, 1, 13, "(128, 1, 1)", "(1792, 8, 1)", 0,
                      "9.0", "Command line profiler metrics", metric, "byte", values[metric]])
            index += 1
    print("==PROF== Disconnected from process 4321")


main()
