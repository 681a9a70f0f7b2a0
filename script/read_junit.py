# SPDX-License-Identifier: MIT
"""read_junit.py REPORT LOG

Reads what ctest wrote. Prints the numbers of passed, failed and skipped tests on one line, then for
each failed test its name and output, for each skipped one the reason that it gave, for each passed
one the cases that it skipped, and last which tests took longest.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason(text):
    """The last line that is not empty, without the word that people put in front."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub("^skipped: *", "", lines[-1]) if lines else "it gave no reason"


def without_good(output):
    """A CMocka program's output without the cases that went well."""
    noise = re.compile(r"\[ RUN      \]|\[       OK \]")
    return "\n    ".join(line for line in output.strip().splitlines() if not noise.match(line))


def skipped_cases(output):
    """Of a CMocka program's output: each skipped case, and the line before it."""
    lines = output.splitlines()
    for before, line in zip([""] + lines, lines):
        found = re.match(r"\[ *SKIPPED *\] (\w+)$", line)
        if found and not before.startswith("[  SKIPPED"):
            yield found.group(1), "" if before.startswith("[") else before


def slowest(tests, count=5):
    """The tests that took longest, with their seconds; none below one."""
    times = sorted(((float(test.get("time") or 0), test.get("name")) for test in tests), reverse=True)
    return ", ".join("%s %.0f s" % (name, time) for time, name in times[:count] if time >= 1)


def main(path, log):
    passed, failed, skipped, cases = 0, [], [], []
    tests = list(ElementTree.parse(path).getroot().iter("testcase"))
    for case in tests:
        name, output = case.get("name"), case.findtext("system-out") or ""
        skip = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
            cases += [(name,) + case for case in skipped_cases(output)]
        elif skip is not None and "SKIP_RETURN_CODE" in (skip.get("message") or ""):
            skipped.append((name, output))
        else:
            failed.append((name, output or "no output; %s says how it ended" % log))
    print(passed, len(failed), len(skipped))
    for name, output in failed:
        print("  FAILED %s\n    %s" % (name, without_good(output)))
    for name, output in skipped:
        print("  skipped %s: %s" % (name, reason(output)))
    for name, case, why in cases:
        print("  skipped in %s: %s: %s" % (name, case, reason(why)))
    if slowest(tests):
        print("  slowest: " + slowest(tests))


main(*sys.argv[1:])
