# SPDX-License-Identifier: MIT
"""How a mutant is written down, and the kernels that faults are looked for in."""


class Error(Exception):
    pass


class Mutant:
    """One fault: edits of one template, or a fault of the host's plan; and what to run.

    kernels: arguments of mxq-emulate, patterns and perhaps an arch.
    """

    def __init__(self, name, kernels, file=None, steps=(), fault=None):
        self.name, self.kernels, self.file = name, kernels, file
        self.steps = steps if isinstance(steps, list) else [steps] if steps else []
        self.fault = fault


def plan(fault, kernels, name=None):
    return Mutant(f"host: {name or fault}", kernels, fault=fault)


class Template:
    """Mutants of one file."""

    def __init__(self, file, kernels):
        self.file, self.kernels = file, kernels

    def __call__(self, name, steps, kernels=None):
        return Mutant(f"{self.file}: {name}", kernels or self.kernels, self.file, steps)


def drop(text):
    """Takes out the line that begins with a text, and the comment that goes on below it."""
    def apply(lines, where):
        at = find_line(lines, text, where)
        end = at + 1
        while end < len(lines) and lines[end].lstrip().startswith("//"):
            end += 1
        return lines[:at] + lines[end:]
    return lambda source, where: "".join(apply(source.splitlines(keepends=True), where))


def swap(first, second):
    """Exchanges two lines that stand one after the other."""
    def apply(lines, where):
        at, other = find_line(lines, first, where), find_line(lines, second, where)
        if other != at + 1:
            raise Error(f"{where}: {second!r} does not follow {first!r}")
        lines[at], lines[other] = lines[other], lines[at]
        return lines
    return lambda source, where: "".join(apply(source.splitlines(keepends=True), where))


def change(old, new):
    """Replaces a text that stands there once."""
    def apply(source, where):
        if source.count(old) != 1:
            raise Error(f"{where}: the template has {old!r} {source.count(old)} times, not once")
        return source.replace(old, new)
    return apply


def cut(text):
    return change(text, "")


def find_line(lines, begin, where):
    found = [i for i, line in enumerate(lines) if line.startswith(begin)]
    if len(found) != 1:
        raise Error(f"{where}: {len(found)} lines begin with {begin!r}, not one")
    return found[0]


def fast(*variants):
    return [f"quantize_{v}_lin.tma" for v in variants]


def generic(*variants):
    return [f"quantize_{v}_lin.any" for v in variants]
