# SPDX-License-Identifier: MIT
"""Reads what script/measure wrote into a folder: main.json and so on; what is missing is empty."""
import json
import os
import re

LAYOUTS = ["row", "col", "colt", "sq", "sqt", "rowcol", "rowcolt", "sqsqt"]
SHAPES = [(8, 8192, 5120), (8, 7168, 2048), (1, 2048, 2048), (1, 128, 256)]
DRAM = (8, 7168, 2048)
FIELDS = ["op", "in", "out", "block", "mode", "layout", "scales"]


class Results:
    """The JSON of each part by name, and the rows of the benchmark, with their variants' fields."""

    def __init__(self, folder):
        self.folder = folder
        self.parts = {}
        for part in ["main", "host", "cpu", "torch", "instructions", "profile", "reasons"]:
            path = os.path.join(folder, f"{part}.json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    self.parts[part] = json.load(file)
        self.rows = [dict(row, **fields_of(row["kernel"]), shape=tuple(row["shape"]))
                     for row in self.rows_of("main") if row["status"] == "MXQ_OK"]

    def rows_of(self, part):
        return self.parts.get(part, {}).get("rows", [])

    def where(self):
        """Device, versions and date of the main run."""
        main = self.parts.get("main")
        if not main:
            return "not measured"
        device = main["device"]
        return (f"{device['name']}, {device['multiprocessors']} SMs, driver CUDA {main['driver_cuda']}, "
                f"NVRTC {main['nvrtc']}, mxq {main['version']}, {main['date'][:10]}")

    def find(self, **wanted):
        """The rows with these fields."""
        return [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]

    def torch(self, layout, shape):
        found = [row for row in self.rows_of("torch")
                 if row["layout"] == layout and tuple(row["shape"]) == shape]
        return found[0] if found else None

    def missed(self):
        """The rows that miss their targets, each with the reason that a profiler gave, or "". What main
        was given by --reasons counts where no profiler ran after it."""
        missed = [row for row in self.rows if not row.get("target", {}).get("met", True)]
        if "reasons" not in self.parts:
            return [(row, row["target"].get("reason", "")) for row in missed]
        reasons = {(row["kernel"], tuple(row["shape"])): row["reason"] for row in self.rows_of("reasons")}
        return [(row, reasons.get((row["kernel"], row["shape"])) or "") for row in missed]

    def per_element(self, variant):
        """Thread instructions an element of the kernel that a large tensor gets, or None."""
        found = [row["per_element"] for row in self.rows_of("instructions")
                 if (row["variant"], row["arch"], row["size"]) == (variant, "90a", "large")]
        return found[0] if found else None


def fields_of(kernel):
    variant = kernel.split(".")[0]
    fields = dict(zip(FIELDS, variant.split("_")))
    return dict(fields, variant=variant, generic=bool(re.search(r"\.any", kernel)))


def median_us(row, kind):
    return row[f"{kind}_times"]["median_us"]


def over_us(row):
    return row["us"] - median_us(row, "straight")
