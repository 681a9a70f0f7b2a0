# SPDX-License-Identifier: MIT
"""mxq info on machines with nothing, with NVIDIA's Python package alone, with a toolkit alone: made of
this one in a mount namespace, where the folders of every NVRTC that is found are hidden and the one
of the first is shown elsewhere."""
import json
import os
import subprocess
import sys
import tempfile

from cli_support import MXQ, Case, main, run, skip

NAME = "quantize_bf16_e4m3_b32_rceil_row_lin"
INSIDE = "MXQ_TEST_INSIDE"  # a folder of the caller's, in which the NVRTC's folder was bound


def info(**variables):
    kept = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "MXQ_CACHE_DIR": "/nonexistent/cache"}
    return run("info", "--json", env={**kept, **variables})


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def hide_every_nvrtc():
    """Also those that are found only when others are not there."""
    for _ in range(16):
        nvrtc = json.loads(info().stdout)["nvrtc"]
        if not nvrtc["found"]:
            return
        mount("-t", "tmpfs", "none", os.path.dirname(os.path.realpath(nvrtc["path"])))
    raise AssertionError("there is no end of NVRTCs")


class Machines(Case):
    def setUp(self):
        super().setUp()
        self.real = os.environ[INSIDE]

    def show(self, *folders):
        """The NVRTC's folder below one of the test's own, whose path comes back."""
        folder = self.path(os.path.join(*folders))
        os.makedirs(folder)
        mount("--bind", self.real, folder)
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        return self.folder

    def found(self, **variables):
        """What is found, with the text for people checked to say the same."""
        report = json.loads(self.check(info(**variables), 0).stdout)
        advice = " ".join(report["missing"])
        self.assertEqual("no NVRTC" in advice, not report["nvrtc"]["found"], advice)
        self.assertEqual("kernels can be compiled" in advice,
                         report["nvrtc"]["found"] and not report["driver"]["found"], advice)
        with tempfile.TemporaryDirectory() as cache:  # what is cached needs no NVRTC
            env = {"PATH": os.environ["PATH"], "MXQ_CACHE_DIR": cache, **variables}
            result = run("compile", NAME, env=env)
        self.assertEqual(result.returncode, 0 if report["nvrtc"]["found"] else 3, result.stderr)
        return report["nvrtc"]

    def test_nothing(self):
        nvrtc = self.found()
        self.assertFalse(nvrtc["found"])
        for piece in ["no usable NVRTC", "12.9 or newer", "VIRTUAL_ENV", "nvidia-cuda-nvrtc"]:
            self.assertIn(piece, nvrtc["reason"])

    def test_a_wheel_alone(self):
        folder = self.show("lib", "python3.99", "site-packages", "nvidia", "cu13", "lib")
        for variable in ["VIRTUAL_ENV", "CONDA_PREFIX"]:
            self.assertTrue(self.found(**{variable: folder})["path"].startswith(folder))
        self.assertFalse(self.found()["found"])

    def test_a_toolkit_alone(self):
        folder = self.show("lib64")
        for variable in ["CUDA_HOME", "CUDA_PATH"]:
            self.assertTrue(self.found(**{variable: folder})["path"].startswith(folder))
        self.assertTrue(self.found(LD_LIBRARY_PATH=self.path("lib64"))["found"])
        self.assertTrue(self.found(MXQ_NVRTC=self.path("lib64/libnvrtc.so.13"))["found"])
        nvrtc = self.found(MXQ_NVRTC=self.path("lib64"))
        self.assertIn("libnvrtc.so file", nvrtc["reason"])


def go_inside():
    """Runs this test again, in a namespace of its own; there is a folder for one mount."""
    found = json.loads(run("info", "--json").stdout)["nvrtc"]
    if not found["found"] or not found["version"].startswith("13."):
        skip("no NVRTC 13")
    command = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        skip("mount namespaces are not allowed here")
    real = os.path.dirname(os.path.realpath(found["path"]))
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    with tempfile.TemporaryDirectory() as inside:
        os.environ[INSIDE] = inside
        code = subprocess.run([*command, "sh", "-c", script, "sh", real, inside, sys.executable,
                               *sys.argv], check=False).returncode
    sys.exit(code)


if INSIDE not in os.environ:
    go_inside()
hide_every_nvrtc()
main()
