# SPDX-License-Identifier: MIT
"""mxq quantize where it must fail: with a reason, and without leaving anything behind."""
import os
import resource
import signal
import subprocess
import time

from cli_support import MXQ, DEVICE, Case, floats, main, quantize, read, run, write


class Failures(Case):
    def setUp(self):
        super().setUp()
        self.source = self.path("in.safetensors")
        write(self.source, {"w": floats(32, 16), "v": floats(7)})

    def refused(self, code, *pieces, out="out.safetensors", arguments=(), **options):
        before = sorted(os.listdir(self.folder))
        result = quantize(self.source, self.path(out), *arguments, **options)
        self.check(result, code, *pieces)
        self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_names_cannot_command_the_terminal(self):
        write(self.source, {"w\x1b[2J": floats(32, 16), "w\x1b[2J.scale": floats(3)})
        self.refused(1, "w\\x1b[2J.scale")
        write(self.source, {"w\x1b[2J\r": floats(32, 16)})
        result = self.check(quantize(self.source, self.path("q")), 0)
        self.assertIn("w\\x1b[2J\\x0d", result.stdout)
        self.assertNotIn("\x1b", result.stdout)

    def test_closed_standard_output(self):
        """The table has nowhere to go, and must not go into the file."""
        done = subprocess.run(f'"{MXQ}" quantize in.safetensors -o q --device {DEVICE} >&-',
                              shell=True, cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 1)
        read(self.path("q"))

    def temporaries(self):
        return [name for name in os.listdir(self.folder) if name.endswith(".tmp")]

    def test_a_name_that_exists(self):
        write(self.source, {"w": floats(32, 16), "w.scale": floats(3)})
        self.refused(1, '"w.scale"')
        write(self.source, {"w": floats(32, 16), "w.scale": floats(32, 16)})
        self.refused(1, '"w.scale"')

    def test_files_that_lie(self):
        with open(self.source, "rb") as file:
            good = file.read()
        for cut in [0, 4, 8, 20, len(good) - 1]:
            with open(self.source, "wb") as file:
                file.write(good[:cut])
            self.refused(1, "in.safetensors: ")
        with open(self.source, "wb") as file:
            file.write(good + b"\0")
        self.refused(1, "in.safetensors: ")
        self.source = self.path("gone.safetensors")
        self.refused(1, "gone.safetensors: No such file")
        self.source = self.folder
        self.refused(1, "is a folder")

    def test_outputs_that_cannot_be(self):
        os.symlink(self.source, self.path("link"))
        os.link(self.source, self.path("hard"))
        for out in ["in.safetensors", "./in.safetensors", "link", "hard"]:
            self.refused(2, "a file of the input", out=out)
        self.refused(2, "not a regular file", out="/dev/null")
        self.refused(2, "index", out="out.index.json")
        self.refused(1, "No such file", out="no/folder/out")
        self.assertTrue(os.path.islink(self.path("link")))

    def test_a_glob_without_a_tensor(self):
        self.refused(2, 'no tensor of', '"x*"', arguments=["--tensor", "x*"])

    def test_a_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
        self.refused(1, "out.safetensors", "File too large", preexec_fn=limit)

    def test_the_old_output_stays_until_the_new_is_complete(self):
        with open(self.path("out.safetensors"), "w", encoding="utf-8") as file:
            file.write("old")
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
        self.refused(1, preexec_fn=limit)
        with open(self.path("out.safetensors"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        self.check(quantize(self.source, self.path("out.safetensors")), 0)
        read(self.path("out.safetensors"))

    def test_a_device_that_is_not_there(self):
        result = run("quantize", self.source, "-o", self.path("q"), "--device", "cuda:99")
        self.check(result, 3)
        self.assertFalse(os.path.exists(self.path("q")))

    def test_signals_leave_nothing(self):
        write(self.source, {f"w{i}": floats(512, 512, start=i) for i in range(24)})
        killed = 0
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] * 3:
            process = subprocess.Popen([MXQ, "quantize", self.source, "-o", self.path("q"),
                                        "--device", DEVICE], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while process.poll() is None and not self.temporaries():
                time.sleep(0.0005)
            process.send_signal(number)
            killed += process.wait() == -number
            self.assertEqual(self.temporaries(), [])
            if os.path.exists(self.path("q")):
                read(self.path("q"))
                os.remove(self.path("q"))
        self.assertGreater(killed, 0)

    def shrink_while_reading(self):
        write(self.source, {f"w{i}": floats(512, 512, start=i) for i in range(24)})
        process = subprocess.Popen([MXQ, "quantize", self.source, "-o", self.path("q"), "--device",
                                    DEVICE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while process.poll() is None and not self.temporaries():
            time.sleep(0.0005)
        os.truncate(self.source, 4096)
        return process.communicate()[1].decode(), process.returncode

    def test_an_input_that_shrinks(self):
        """A mapped file that is cut short while it is read: a message, and nothing half-written."""
        for _ in range(10):
            text, code = self.shrink_while_reading()
            if code:
                break
            os.remove(self.path("q"))  # it was faster
        self.assertIn("changed or failed while it was read", text)
        self.assertEqual(code, 1)
        self.assertEqual(os.listdir(self.folder), ["in.safetensors"])


main()
