# SPDX-License-Identifier: MIT
"""What the documentation says of the code: that each text of docs/errors.md is one that the code can
give, that each status stands there with its exit code, and that links lead somewhere.
    check_docs.py SOURCE"""
import glob
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[1])


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def literals():
    """The string literals of the C sources, neighbours joined, in one text."""
    texts = []
    for part in "gen", "runtime", "cli":
        for path in sorted(glob.glob(f"{SOURCE}/{part}/**/*.[ch]", recursive=True)):
            joined = re.sub(r'"\s*\n?\s*(?:LIBRARY|OLDEST|PRI\w+)?\s*"', "", read(path))
            texts += re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)
    return "\n".join(texts)


class Docs(unittest.TestCase):
    def test_error_texts_exist(self):
        known = literals()
        shown = re.findall(r"`([^`]+)`", "".join(
            re.findall(r"^\*\*.+?\*\*", read("docs/errors.md"), re.M | re.S)))
        pieces = [piece.strip(" ;,.:") for text in shown for piece in text.replace("\n", " ").split("...")]
        pieces = [piece for piece in pieces if len(piece) > 3 and not piece.startswith("mxq ")]
        self.assertGreater(len(pieces), 25)
        for piece in pieces:
            self.assertTrue(piece in known, f"docs/errors.md shows, but no source has: {piece}")

    def test_every_status_is_explained(self):
        statuses = re.findall(r"ROW\((\w+), \d+,", read("include/mxq/status.h"))
        self.assertGreater(len(statuses), 10)
        codes = dict(re.findall(r"\{MXQ_(\w+), (EXIT_\w+)\}", read("cli/report.c")))
        numbers = dict(re.findall(r"(EXIT_\w+) = (\d)", read("cli/command.h")))
        rows = dict(re.findall(r"^\| `MXQ_(\w+)` \|.*\| (\d) \|$", read("docs/errors.md"), re.M))
        expected = {name: numbers[codes.get(name, "EXIT_FAILED")] for name in statuses}
        self.assertEqual(rows, expected)

    def test_every_variable_is_explained(self):
        used = set(re.findall(r'"(MXQ_[A-Z_]+)"', "".join(
            read(os.path.relpath(path, SOURCE)) for path in glob.glob(f"{SOURCE}/runtime/*.c"))))
        page = read("docs/jit.md")
        self.assertGreaterEqual(len(used), 4)
        for name in used - set(re.findall(r"`(MXQ_\w+)`", page)):
            self.assertTrue(name.startswith(("MXQ_DEVICE", "MXQ_SET")), f"docs/jit.md lacks {name}")

    def test_hardware_conversions_are_recorded(self):
        """What turns on an arch's own conversions: a row that says what was run there, and when."""
        archs = re.findall(r'\{"(\w+)", \d+, [^,]+, (\d), (\d), (\d), (\d)\}', read("gen/arch.c"))
        self.assertGreaterEqual(len(archs), 6)
        rows = re.findall(r"^\| (\d+a?) \| (yes|no) \| (yes|no) \| (yes|no) \| (.+) \|$",
                          read("docs/conformance.md"), re.M)
        spelled = {"0": "no", "1": "yes"}
        self.assertEqual([(name, spelled[fp8], spelled[narrow], spelled[used])
                          for name, _, fp8, narrow, used in archs], [row[:4] for row in rows])
        for arch, _, _, used, because in rows:
            if used == "yes":
                self.assertRegex(because, r"`mxq verify --exhaustive`.*\d{4}-\d\d-\d\d", arch)

    def test_links_lead_somewhere(self):
        pages = glob.glob(f"{SOURCE}/*.md") + glob.glob(f"{SOURCE}/docs/*.md")
        self.assertGreater(len(pages), 8)
        for page in pages:
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", read(page)):
                if not re.match(r"\w+:", target):
                    where = os.path.join(os.path.dirname(page), target)
                    self.assertTrue(os.path.exists(where), f"{page}: {target}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
