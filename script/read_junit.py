# SPDX-License-Identifier: MIT
"""read_junit.py REPORT LOG

Reads what ctest wrote. Prints the numbers of passed, failed and skipped tests on one line, then for
each failed test its name and output, and for each skipped one the reason that it gave.
"""
import sys
import xml.etree.ElementTree as ElementTree


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def main(path, log):
    passed, failed, skipped = 0, [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        skip = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
        elif skip is not None and "SKIP_RETURN_CODE" in (skip.get("message") or ""):
            skipped.append((name, output))
        else:
            failed.append((name, output or "no output; %s says how it ended" % log))
    print(passed, len(failed), len(skipped))
    for name, output in failed:
        print("  FAILED %s\n    %s" % (name, output.strip().replace("\n", "\n    ")))
    for name, output in skipped:
        print("  skipped %s: %s" % (name, last_line(output)))


main(*sys.argv[1:])
