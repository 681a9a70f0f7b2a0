# SPDX-License-Identifier: MIT
"""What makes docs/performance.md: the tables are those of bench/results, pictures can be drawn of it
(where matplotlib is), and instructions are counted as tests/sass.py says. Called with the source."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv[1])

import sass

# Thread 0 starts a copy; all wait, work, may leave work out, and loop over tiles.
TEXT = """
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/               @P0 BRA `(.L_x_1) ;
        /*0020*/                   UMOV UR4, URZ ;
        /*0030*/                   UTMALDG.3D [UR8], [UR18] ;
.L_x_1:
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_2:
        /*0050*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R4 ;
        /*0060*/              @!P0 BRA `(.L_x_4) ;
.L_x_5:
        /*0070*/               @P2 BRA `(.L_x_3) ;
        /*0080*/                   STG.E.U8 desc[UR16][R4.64], R2 ;
.L_x_3:
        /*0090*/                   BRA.U !UP0, `(.L_x_2) ;
        /*00a0*/                   EXIT ;
.L_x_4:
        /*00b0*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R4 ;
        /*00c0*/              @!P0 BRA `(.L_x_4) ;
        /*00d0*/                   BRA `(.L_x_5) ;
.L_x_6:
        /*00e0*/                   BRA `(.L_x_6);
        /*00f0*/                   NOP;
"""


class Report(unittest.TestCase):
    def test_count(self):
        # 9: 0000 0010 0040 0050 0060 0070 0080 0090 00a0
        self.assertEqual(sass.count(TEXT), (14, 9))

    def test_count_without_the_short_way(self):
        # The copy's code counts where no other way leads on.
        self.assertEqual(sass.count(TEXT.replace("@P0 BRA `(.L_x_1)", "NOP")), (14, 11))

    def test_count_of_halves(self):
        # The loop over halves: 0080 and 0088, twice.
        halves = """.L_x_7:
        /*0080*/                   STS.128 [R4], R8 ;
        /*0088*/              @P3 BRA `(.L_x_7) ;"""
        store = next(line for line in TEXT.splitlines() if "STG" in line)
        self.assertEqual(sass.count(TEXT.replace(store, halves)), (15, 12))
        # A loop that stores to global memory runs as often as data tell.
        both = halves.replace("STS.128 [R4], R8 ;", "STS [R4], R8 ;\n/*0084*/ STG.E [R4], R8 ;")
        self.assertEqual(sass.count(TEXT.replace(store, both)), (16, 11))

    def test_tables(self):
        result = subprocess.run([sys.executable, f"{SOURCE}/script/bench_tables", "--check"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_pictures(self):
        pythons = glob.glob(f"{SOURCE}/.venv/bin/python") or [sys.executable]
        with open(f"{SOURCE}/docs/performance.md", encoding="utf-8") as file:
            folders = set(re.findall(r"<!-- table \w+ of (\S+) -->", file.read()))
        self.assertTrue(folders)
        for folder in folders:
            with tempfile.TemporaryDirectory() as made:
                result = subprocess.run([pythons[0], f"{SOURCE}/script/plot_bench", f"{SOURCE}/{folder}",
                                         "-o", made], capture_output=True, text=True)
                if result.returncode == 3:
                    self.skipTest(result.stderr.strip())
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertCountEqual(os.listdir(made), ["percent.svg", "roofline.svg", "first_use.svg"])
                for name in os.listdir(made):
                    self.assertGreater(os.path.getsize(f"{made}/{name}"), 4000, name)


unittest.main(argv=sys.argv[:1], verbosity=2)
