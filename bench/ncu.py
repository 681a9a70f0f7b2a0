# SPDX-License-Identifier: MIT
"""Runs mxq-bench --once under Nsight Compute (ncu), and reads what it counted.

One process launches all kernels: for each its straight kernel, then itself. Exit 3 where ncu is missing
or may not read the counters; a metric that this ncu does not know is left out, its values are NaN."""
import csv
import math
import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

SECONDS = 240
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
INSTRUCTIONS = "smsp__thread_inst_executed.sum"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
CORE = [INSTRUCTIONS, ISSUED, READ, WRITTEN]  # known since long: tried alone where the others fail
# As ncu 2025 says it: "==ERROR== Failed to find metric regex:^NAME\.(sum|min|...)$".
UNKNOWN = re.compile(r"Failed to find metric (?:regex:)?\^?(\w+)")


def say(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)


def skip(why):
    say(why)
    sys.exit(3)


def find():
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if not os.access(ncu, os.X_OK):
        skip("no ncu")
    return ncu


def listed(bench, arguments):
    """(kernel, shape) of each thing that the benchmark would measure."""
    result = subprocess.run([bench, *arguments, "--list"], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True)
    if result.returncode:
        sys.exit(f"{bench} --list: {result.stderr.strip()}")
    fields = [line.split()[:2] for line in result.stdout.splitlines()]
    return [(kernel, tuple(map(int, shape.split(",")))) for kernel, shape in fields]


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:  # "n/a", "no data"
        return math.nan


def product(text):
    """Of "(1792, 8, 1)", as ncu writes sizes of grids and blocks."""
    return math.prod(map(int, re.findall(r"\d+", text))) if text else math.nan


def read_launches(text):
    """The launches in order, of the lines of --csv: one for each metric of a launch."""
    launches = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        if not row.get("Metric Name"):
            continue
        name = row["Kernel Name"].split("(")[0].split()[-1]
        launch = launches.setdefault(int(row["ID"]), SimpleNamespace(
            name=name, blocks=product(row.get("Grid Size")), threads=product(row.get("Block Size")),
            metrics={}))
        launch.metrics[row["Metric Name"]] = number(row["Metric Value"] or "")
    return [launches[index] for index in sorted(launches)]


def match(items, launches):
    """(kernel, shape, its launch, the straight kernel's launch); launches in between are none of ours."""
    found, left = [], iter(launches)
    for kernel, shape in items:
        pair = []
        for symbol in ["straight", re.sub(r"\W", "_", kernel)]:
            pair.append(next((launch for launch in left if launch.name == symbol), None))
        if None in pair:
            say(f"ncu did not profile {kernel} at {shape}, nor what follows")
            break
        found.append((kernel, shape, pair[1], pair[0]))
    return found


def run(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        sys.exit(f"{os.path.basename(sys.argv[0])}: ncu took more than {SECONDS} s")


def profile(bench, arguments, metrics, options=(), keep=os.devnull):
    """What `match` returns of the kernels that `arguments` select. What ncu printed stays in `keep`."""
    items, metrics = listed(bench, arguments), list(metrics)
    if not items:
        return []
    ncu = find()
    say(f"{len(items)} kernels, {len(metrics)} metrics")
    while True:
        result = run([ncu, "--clock-control", "none", *options, "--csv", "--print-units", "base", "--metrics",
                      ",".join(metrics), bench, *arguments, "--once"])
        output = result.stdout + result.stderr
        with open(keep, "w", encoding="utf-8") as file:
            file.write(output)
        launches = read_launches(result.stdout)
        unknown = set(UNKNOWN.findall(output)) & {metric.split(".")[0] for metric in metrics}
        kept = [metric for metric in metrics if metric.split(".")[0] not in unknown]
        if launches:
            if result.returncode:
                say(f"ncu ended early: {output.strip()[-300:]}")
            return match(items, launches)
        if not unknown and set(metrics) <= set(CORE):
            skip(f"ncu profiled nothing: {output.strip()[-500:]}")
        metrics = kept if unknown else CORE
        say(f"ncu does not know {', '.join(sorted(unknown))}" if unknown else
            f"only {', '.join(CORE)} now, after: {output.strip()[-500:]}")
