# SPDX-License-Identifier: MIT
"""From what a profiler counted of a kernel and of its straight kernel to one line that says why the
kernel is slower. RULES is the table: the first condition that holds gives the line. What was not
counted is NaN: no condition on it holds, and a line shows it as n/a."""
import math
import re

from ncu import CORE, INSTRUCTIONS, ISSUED, READ, WRITTEN

TIME = "gpu__time_duration.sum"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
L2 = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"
L2_READ, L2_WRITTEN = "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
WAVES = "launch__waves_per_multiprocessor"
SHARED = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
LOADED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
PIPES = {pipe: f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"
         for pipe in ["alu", "fma", "xu", "lsu"]}
# What warps that issue nothing wait for.
STALLS = {"long_scoreboard": "for global memory", "short_scoreboard": "for shared memory",
          "barrier": "at barriers", "wait": "for the instruction before", "lg_throttle":
          "for room in the queue of loads and stores", "mio_throttle": "for room in the queue of shared memory",
          "math_pipe_throttle": "for a busy pipe", "not_selected": "for their turn to issue",
          "drain": "for stores at their end", "membar": "at fences", "sleeping": "asleep",
          "branch_resolving": "for branches", "no_instruction": "for instructions to be fetched",
          "imc_miss": "for constants", "dispatch_stall": "to be dispatched"}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
METRICS = [*CORE, TIME, DRAM, L2, L2_READ, L2_WRITTEN, WARPS, WAVES, SHARED, WAVEFRONTS, CONFLICTS, STORES,
           STORED, LOADS, LOADED, *PIPES.values(), *map(STALL.format, STALLS)]


def ratio(a, b):
    return a / b if b else math.nan


def stalls_of(launch):
    """(name, percent of the time that warps spend so), the largest first. Who issues waits 1."""
    counted = {name: launch.metrics.get(STALL.format(name), math.nan) for name in STALLS}
    counted = {name: value for name, value in counted.items() if not math.isnan(value)}
    whole = sum(counted.values()) + 1
    return sorted(((name, 100 * value / whole) for name, value in counted.items()), key=lambda each: -each[1])


def waits_of(launch):
    first = [f"{share:.0f} % {STALLS[name]}" for name, share in stalls_of(launch)[:2]]
    return "warps wait " + ", ".join(first) if first else "waits not counted"


def filled(blocks, waves, multiprocessors):
    """Percent of the multiprocessors' places that blocks fill, on the average."""
    loads = waves if waves > 1 else ratio(blocks, multiprocessors)
    return 100 * loads / math.ceil(loads) if loads > 0 else math.nan


def facts_of(measured, multiprocessors, launch, straight):
    """What conditions and lines may name. `measured` is a row of mxq-bench."""
    def of(metric):
        return launch.metrics.get(metric, math.nan)

    def beside(metric):
        return ratio(of(metric), straight.metrics.get(metric, math.nan))

    def dram(metrics):
        return metrics.get(READ, math.nan) + metrics.get(WRITTEN, math.nan)

    pipe = max(PIPES, key=lambda each: -1 if math.isnan(of(PIPES[each])) else of(PIPES[each]))
    return {
        "us": measured["us"], "straight_us": measured["straight_times"]["median_us"],
        "profiled_us": of(TIME) / 1e3, "profiled_straight_us": straight.metrics.get(TIME, math.nan) / 1e3,
        "per_element": of(INSTRUCTIONS) / math.prod(measured["shape"]),
        "per_thread": ratio(of(INSTRUCTIONS), launch.blocks * launch.threads), "issue": of(ISSUED),
        "pipe": pipe, "pipe_busy": of(PIPES[pipe]), "shared": of(SHARED),
        "conflicts": 100 * ratio(of(CONFLICTS), of(WAVEFRONTS)),
        "dram": of(DRAM), "straight_dram": straight.metrics.get(DRAM, math.nan),
        "dram_ratio": ratio(dram(launch.metrics), dram(straight.metrics)),
        "read_ratio": beside(READ), "write_ratio": beside(WRITTEN),
        "read_of_needed": ratio(of(READ), measured["bytes_read"]),
        "written_of_needed": ratio(of(WRITTEN), measured["bytes_written"]),
        "l2": of(L2), "straight_l2": straight.metrics.get(L2, math.nan),
        "l2_read_ratio": beside(L2_READ), "l2_write_ratio": beside(L2_WRITTEN),
        "per_store": ratio(of(STORED), of(STORES)), "per_load": ratio(of(LOADED), of(LOADS)),
        "occupancy": of(WARPS), "blocks": launch.blocks, "multiprocessors": multiprocessors,
        "waves": of(WAVES), "filled": filled(launch.blocks, of(WAVES), multiprocessors),
        "waits": waits_of(launch)}


MUCH = 30  # percent: under it the DRAM is no limit, and its few bytes say nothing

# (name, condition on facts, line)
RULES = [
    ("few tiles", lambda f: f["blocks"] < f["multiprocessors"],
     "{blocks:.0f} blocks on {multiprocessors:.0f} SMs hide none of a block's own {per_thread:.0f} "
     "instructions a thread; the straight kernel's launch takes {straight_us:.2f} of {us:.2f} us; {waits}"),
    ("last wave", lambda f: f["filled"] < 85 and f["waves"] < 6,
     "{blocks:.0f} blocks, {waves:.1f} waves, fill {filled:.0f} % of {multiprocessors:.0f} SMs; {waits}"),
    ("bound by instructions", lambda f: f["issue"] >= 60,
     "issue slots {issue:.0f} % used, {per_element:.1f} an element, DRAM {dram:.0f} % busy"),
    ("bound by a pipe", lambda f: f["pipe_busy"] >= 70,
     "{pipe} {pipe_busy:.0f} % busy, {per_element:.1f} instructions an element, DRAM {dram:.0f} % busy"),
    ("bound by shared memory", lambda f: f["shared"] >= 60,
     "{shared:.0f} % busy, {conflicts:.0f} % of it bank conflicts, DRAM {dram:.0f} % busy"),
    ("partial sectors", lambda f: f["l2_write_ratio"] >= 1.05,
     "L2 takes {l2_write_ratio:.2f}x the straight kernel's writes, {per_store:.1f} sectors a store; "
     "DRAM writes {write_ratio:.2f}x, reads {read_ratio:.2f}x; {waits}"),
    ("unaligned reads", lambda f: f["l2_read_ratio"] >= 1.05,
     "L2 gives {l2_read_ratio:.2f}x the straight kernel's reads, {per_load:.1f} sectors a load; "
     "DRAM reads {read_ratio:.2f}x; {waits}"),
    ("more traffic", lambda f: f["dram_ratio"] >= 1.03 and f["dram"] >= MUCH,
     "DRAM reads {read_ratio:.2f}x, writes {write_ratio:.2f}x the straight kernel's bytes, "
     "{dram:.0f} % busy"),
    ("bound by the L2 cache", lambda f: f["l2"] >= 75, "{l2:.0f} % busy, DRAM {dram:.0f} %; {waits}"),
    ("one wave", lambda f: f["waves"] <= 1,
     "all {blocks:.0f} blocks run at once, so their loads and stores overlap little; {waits}"),
    ("bound by DRAM", lambda f: f["dram"] >= MUCH and f["dram"] >= 0.98 * f["straight_dram"],
     "{dram:.0f} % busy, by the straight kernel {straight_dram:.0f} %, at {dram_ratio:.2f}x its bytes"),
    ("latency", lambda f: f["dram"] >= 0,
     "DRAM {dram:.0f} % busy, L2 {l2:.0f} %, by the straight kernel {straight_dram:.0f} % and "
     "{straight_l2:.0f} %; issue slots {issue:.0f} %, occupancy {occupancy:.0f} %; {waits}"),
    ("not known", lambda f: f["issue"] >= 0, "issue slots {issue:.0f} % used, {per_element:.1f} an element; "
     "DRAM reads {read_ratio:.2f}x, writes {write_ratio:.2f}x the straight kernel's bytes"),
]


def reason_of(facts):
    """None where nothing was counted."""
    for name, holds, line in RULES:
        if holds(facts):
            return f"{name}: " + re.sub(r"\bnan\b", "n/a", line.format(**facts))
    return None
