#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Why kernels miss their targets: what Nsight Compute (ncu) counts of each that does in a result of
mxq-bench --main, and of its straight kernel, and the reason that bench/reason_rules.py reads there.

    bench/ncu_reasons.py build/bin/mxq-bench main.json > reasons.json
    mxq-bench --from main.json --show --missed --reasons reasons.json

--keep FILE keeps what ncu printed; --read FILE reads that again, without ncu, by the rules of now.
Exit 3 where the result or ncu is missing, or ncu may not read the counters."""
import argparse
import json
import math
import os

import ncu
import reason_rules as rules


def number(value):
    """Six digits, or null: JSON has no NaN."""
    return None if math.isnan(value) else float(f"{value:.6g}")


def row_of(measured, multiprocessors, launch, straight):
    facts = rules.facts_of(measured, multiprocessors, launch, straight)
    return {"kernel": measured["kernel"], "shape": measured["shape"], "reason": rules.reason_of(facts),
            "facts": {key: number(value) for key, value in facts.items() if isinstance(value, (int, float))},
            "stalls": {name: number(share) for name, share in rules.stalls_of(launch)},
            "metrics": {name: number(value) for name, value in launch.metrics.items()},
            "straight_metrics": {name: number(value) for name, value in straight.metrics.items()}}


def profile(options):
    arguments = ["--from", options.result, "--missed"]
    if options.read:
        with open(options.read, encoding="utf-8") as file:
            return ncu.match(ncu.listed(options.bench, arguments), ncu.read_launches(file.read()))
    # The caches stay as they are: what a launch finds in them is what launches before it leave.
    return ncu.profile(options.bench, arguments, rules.METRICS, ["--cache-control", "none"], options.keep)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("result")
    parser.add_argument("--keep", default=os.devnull)
    parser.add_argument("--read")
    options = parser.parse_args()
    if not os.path.exists(options.result):
        ncu.skip(f"no {options.result}: measure main first")
    with open(options.result, encoding="utf-8") as file:
        result = json.load(file)
    measured = {(row["kernel"], tuple(row["shape"])): row for row in result["rows"]}
    profiled = profile(options)
    rows = [row_of(measured[kernel, shape], result["device"]["multiprocessors"], launch, straight)
            for kernel, shape, launch, straight in profiled]
    unknown = [metric for metric in rules.METRICS
               if all(math.isnan(launch.metrics.get(metric, math.nan)) for _, _, launch, _ in profiled)]
    lines = ",\n".join(json.dumps(row) for row in rows)
    print(f'{{"mxq_reasons": 1, "unknown_metrics": {json.dumps(unknown)}, "rows": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
