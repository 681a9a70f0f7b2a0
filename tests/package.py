# SPDX-License-Identifier: MIT
"""What is installed, used by projects that know nothing of the build: moved elsewhere, found through
CMake and pkg-config, in folders with spaces and letters outside of ASCII, with a fake GPU.
    package.py BUILD SOURCE FAKE_DRIVER [TEST...]"""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, FAKE = (os.path.abspath(path) for path in sys.argv[1:4])
NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
OTHER = "quantize_f32_e5m2_b32_floor_colt_lin"


def environment(**variables):
    """This process's, with the wheels' NVRTC where the checkout has them."""
    env = dict(os.environ, LC_ALL="C.UTF-8", **variables)
    if os.path.isdir(SOURCE + "/.venv"):
        env.setdefault("VIRTUAL_ENV", SOURCE + "/.venv")
    return env


def run(*command, code=0, env=None, **options):
    """Runs it; fails with all it printed unless it ends with `code` (None: with anything but 0)."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                          errors="backslashreplace", env=env or environment(), **options)
    if done.returncode != code and not (code is None and done.returncode):
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def configure(project, folder, prefix, *options):
    return run("cmake", "-G", "Ninja", "-S", project, "-B", folder,
               f"-DCMAKE_PREFIX_PATH={prefix}", *options)


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="mxq-package-")
        run("cmake", "--install", BUILD, "--prefix", cls.root + "/first")
        cls.prefix = cls.root + "/Caf\u00e9 and more"
        os.rename(cls.root + "/first", cls.prefix)
        for where, folders, _ in os.walk(cls.prefix):
            if "pkgconfig" in folders:
                cls.lib = where
        cls.mxq = cls.prefix + "/bin/mxq"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def path(self, name):
        return f"{self.root}/{self.id().split('.')[-1]} {name}"

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def copy(self, example, name="copy"):
        """A copy of an example elsewhere; its folder."""
        shutil.copytree(SOURCE + "/examples", self.path(name))
        return f"{self.path(name)}/{example}"

    def bare(self, *command, code=0, **variables):
        """With the fake driver and nothing else: no home, no path, no NVRTC."""
        home = self.path("home")
        os.makedirs(home, exist_ok=True)
        env = {"HOME": home, "LD_LIBRARY_PATH": FAKE, "LD_DEBUG": "files", **variables}
        text = run(*command, code=code, env=env, cwd=self.root)
        self.assertEqual(os.listdir(home), [])
        loaded = set(re.findall(r"calling init: (\S.*)", text))
        self.assertIn(FAKE + "/libcuda.so.1", loaded)
        self.assertFalse([name for name in loaded if re.search("nvrtc|lua", name)])
        return "\n".join(line for line in text.splitlines() if not re.match(r" +\d+:\t", line))

    def test_jit_example(self):
        configure(self.copy("jit"), self.path("build"), self.prefix)
        run("cmake", "--build", self.path("build"))
        env = environment(LD_LIBRARY_PATH=FAKE, MXQ_CACHE_DIR=self.path("cache"))
        for _ in range(2):
            self.assertIn("the GPU and the CPU agree", run(self.path("build/jit"), env=env))
        self.assertEqual(len([f for f in os.listdir(self.path("cache")) if f.endswith(".mxq")]), 1)

    def test_aot_example(self):
        for copy in "one", "two":
            configure(self.copy("aot", copy), self.path("build " + copy), self.prefix)
            run("cmake", "--build", self.path("build " + copy))
        stem = "mxq/engine_set/engine_set"
        for suffix in ".blob", "_registry.c", ".h":
            one, two = (self.path(f"build {copy}/{stem}{suffix}") for copy in ("one", "two"))
            self.assertTrue(filecmp.cmp(one, two, shallow=False), suffix)
        for program in "engine", "engine_cxx":
            path = self.path("build one/" + program)
            self.assertIn("the GPU and the CPU agree", self.bare(path))
            needed = run("ldd", path)
            self.assertRegex(needed, r"libmxq-aot\.so")
            self.assertNotRegex(needed, "cuda|lua|nvrtc|libmxq.so")
        # Kernels for two archs are in the set; the device decides.
        engine = self.path("build one/engine")
        self.assertIn("the GPU and the CPU agree", self.bare(engine, FAKE_CUDA="devices=100"))
        text = self.bare(engine, code=1, FAKE_CUDA="devices=103")
        self.assertRegex(text, f"{NAME}.*Have arch 103a among the set's archs")
        has_nvcc = os.path.exists(self.path("build one/engine_runtime"))
        print("engine_runtime, with the CUDA runtime:",
              "compiled, not run here" if has_nvcc else "left out, there is no nvcc")
        # A build again does nothing; one after a change of the manifest does.
        self.assertIn("no work to do", run("cmake", "--build", self.path("build one")))
        with open(self.path("one/aot/engine.manifest"), "a", encoding="utf-8") as file:
            file.write("quantize_f16_e4m3_b32_rceil_colt_lin\n")
        self.assertIn("of 3 variants", run("cmake", "--build", self.path("build one")))

    def test_readme_project(self):
        """The project that README.md shows, with the program that it shows."""
        with open(SOURCE + "/README.md", encoding="utf-8") as file:
            readme = file.read()
        program = re.search(r"```c\n(#include <stdio.h>.*?)```", readme, re.S)[1]
        project = re.search(r"```cmake\n(cmake_minimum_required.*?)```", readme, re.S)[1]
        manifest = re.search(r"`engine.manifest`[^`]*```\n(.*?)```", readme, re.S)[1]
        include, register = re.search(
            r'```c\n(#include "engine_kernels.h".*?)\n\n(check.*?)```', readme, re.S).groups()
        start = "  check(mxq_context_create(NULL, &context));\n"
        self.assertIn(start, program)
        program = include + "\n" + program.replace(start, register)
        program = program.replace("quantize_f32_e4m3_b32_rceil_colt_lin", manifest.split()[0]
                                  ).replace("float *in", "unsigned short *in")
        blobs = []
        for folder in "one", "another folder":
            for name, text in (("CMakeLists.txt", project), ("engine.manifest", manifest),
                               ("engine.c", program)):
                self.write(f"{folder}/{name}", text)
            configure(self.path(folder), self.path(folder + "/build"), self.prefix)
            run("cmake", "--build", self.path(folder + "/build"))
            blob = self.path(folder + "/build/mxq/engine_kernels/engine_kernels.blob")
            with open(blob, "rb") as file:
                blobs.append(file.read())
        self.assertEqual(blobs[0], blobs[1])
        self.assertIn("became code", run(self.path("one/build/engine"), env={"HOME": "/"}))

    def test_missing_variant_names_the_line(self):
        project = self.copy("aot")
        with open(project + "/engine.manifest", "w", encoding="utf-8") as file:
            file.write(NAME + "\n")
        configure(project, self.path("build"), self.prefix)
        run("cmake", "--build", self.path("build"), "--target", "engine")
        text = self.bare(self.path("build/engine"), code=1)
        self.assertIn("MXQ_NOT_PREBUILT", text)
        self.assertRegex(text, rf"(?m)line to add: {OTHER}$")

    def build_with(self, manifest, archs="90a", more="", languages="C"):
        """Builds a library with a manifest; what that printed, whether it failed or not."""
        self.write("project/m.txt", manifest)
        self.write("project/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES {languages})
find_package(mxq 0.1 REQUIRED)
file(WRITE ${{CMAKE_CURRENT_BINARY_DIR}}/empty.{'c' if languages == 'C' else 'cc'} "int none;")
add_library(user SHARED ${{CMAKE_CURRENT_BINARY_DIR}}/empty.{'c' if languages == 'C' else 'cc'})
target_link_libraries(user PRIVATE mxq::aot_static)
mxq_add_kernels(user MANIFEST m.txt ARCHS {archs} {more})
""")
        shutil.rmtree(self.path("build"), ignore_errors=True)
        done = subprocess.run(
            ["sh", "-c", 'cmake -G Ninja -S "$1" -B "$2" "-DCMAKE_PREFIX_PATH=$3" && '
             'cmake --build "$2"', "sh", self.path("project"), self.path("build"), self.prefix],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment(), timeout=300)
        return done.returncode, done.stdout

    def test_build_errors_name_what_is_wrong(self):
        for manifest, archs, more, named in (
                ("quantize_bf16_e4m3_b32_rceil_colt_linn\n", "90a", "", "linn"),
                ("# none\n\nquantize_bf16_e9m3_*\n", "90a", "", 'm.txt:3: no variant matches'),
                ("dequantize_e2m1_bf16_b32_f32_colt_lin\n", "90a", "", "dequantize_e2m1"),
                (NAME, "90a 77x", "", "77x"),
                (NAME, "90a", "NAME mxq_run", "mxq_run"),
                (NAME, "90a", "NAEM x", "NAEM")):
            code, text = self.build_with(manifest, archs, more)
            self.assertNotEqual(code, 0, text)
            self.assertIn(named, text)

    def test_projects_without_c_and_with_link_time_optimization(self):
        code, text = self.build_with(NAME, languages="CXX")
        self.assertEqual(code, 0, text)
        exported = run("nm", "-D", "--defined-only", self.path("build/libuser.so"))
        self.assertNotRegex(exported, " mxq_| user_kernels_blob")
        self.assertIn(" user_kernels", exported)
        code, text = self.build_with(NAME, more=")\nset_target_properties(user PROPERTIES "
                                     "INTERPROCEDURAL_OPTIMIZATION ON")
        self.assertEqual(code, 0, text)

    def test_part_of_another_tree(self):
        self.write("project/m.txt", NAME)
        self.write("project/user.c", """#include <user_kernels.h>
int main(void) {
  struct mxq_context *context;
  return mxq_context_create(NULL, &context) || mxq_context_add_kernels(context, &user_kernels);
}
""")
        self.write("project/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C CXX)
set(CMAKE_BUILD_TYPE Debug)
add_subdirectory("{SOURCE}" mxq EXCLUDE_FROM_ALL)
add_executable(user user.c)
target_link_libraries(user PRIVATE mxq::aot_static)
mxq_add_kernels(user MANIFEST m.txt ARCHS 90a)
""")
        with open(BUILD + "/CMakeCache.txt", encoding="utf-8") as file:
            cuda = re.search("^MXQ_CUDA_INCLUDE:PATH=(.*)$", file.read(), re.M)[1]
        configure(self.path("project"), self.path("build"), "", "-DMXQ_CUDA_INCLUDE=" + cuda)
        run("cmake", "--build", self.path("build"))
        run(self.path("build/user"))

    def test_pkg_config(self):
        source = self.write("user/user.c", """#include <mxq/mxq.h>
#include <stdio.h>
int main(void) {
  struct mxq_variant variant;
  return mxq_variant_parse("%s", &variant) != MXQ_OK || puts(mxq_version()) < 0;
}
""" % NAME)
        # pkg-config itself spoils letters outside of ASCII.
        os.symlink(self.prefix, self.root + "/with spaces")
        env = environment(PKG_CONFIG_PATH=self.lib.replace(self.prefix, self.root + "/with spaces")
                          + "/pkgconfig")
        for library in "mxq", "mxq-aot":
            for static in "", "--static":
                out = self.path(library + static)
                flags = run("pkg-config", "--cflags", "--libs", *static.split(), library, env=env)
                command = f"cc -std=c99 -Wall -Werror '{source}' {flags.strip()} -o '{out}'"
                if static:
                    command = command.replace(f"-l{library}", f"-l:lib{library}.a")
                run("sh", "-c", command)
                text = run(out, env=environment(LD_LIBRARY_PATH="" if static else self.lib))
                self.assertEqual(text, run("pkg-config", "--modversion", "mxq", env=env))
                self.assertEqual(f"lib{library}.so" in run("readelf", "-d", out), not static)

    def test_versions(self):
        source = self.write("user/CMakeLists.txt", """cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES NONE)
find_package(mxq ${WANTED} REQUIRED)
""")
        for wanted, code in ("0.1", 0), ("0.1.0", 0), ("0.2", None), ("0.0", None), ("1.0", None):
            run("cmake", "-S", os.path.dirname(source), "-B", self.path("build " + wanted),
                f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DWANTED=" + wanted, code=code)

    def test_program_is_where_it_was_moved(self):
        self.assertRegex(run(self.mxq, "--version"), r"^mxq \d")
        self.assertNotRegex(run("ldd", self.mxq), "lua|cuda|nvrtc")
        paths = run("readelf", "-d", self.mxq)
        self.assertRegex(paths, r"R(UN)?PATH.*\[\$ORIGIN/\.\./lib")
        for name in files_of(self.prefix):
            with open(f"{self.prefix}/{name}", "rb") as file:
                content = file.read()
            for folder in SOURCE + "/", self.root:
                self.assertNotIn(folder.encode(), content, name)

    def test_man_pages_and_completion(self):
        commands = re.findall(r"^  (\w+) ", run(self.mxq, "--help").split("Examples")[0], re.M)
        self.assertGreater(len(commands), 8)
        pages = os.listdir(self.prefix + "/share/man/man1")
        commands.remove("mxq")
        self.assertEqual(sorted(pages), sorted(["mxq.1", "mxq-bench.1"] +
                                               [f"mxq-{command}.1" for command in commands]))
        with open(self.prefix + "/share/man/man1/mxq-emit.1", encoding="utf-8") as file:
            page = file.read()
        for part in ".TH MXQ-EMIT 1", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", "\\-\\-archs":
            self.assertIn(part, page)
        shell = self.prefix + "/share/bash-completion/completions/mxq"
        for words, expected in (("mxq emi", "emit"), ("mxq emit --arc", "--archs"),
                                (f"mxq why {NAME[:-1]}", NAME), ("mxq cache ver", "verify")):
            script = f'source "{shell}"; PATH="{self.prefix}/bin:$PATH"; COMP_WORDS=({words}); ' \
                     'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mxq; echo "${COMPREPLY[@]}"'
            self.assertEqual(run("bash", "-c", script).strip(), expected)
        with open(self.prefix + "/share/zsh/site-functions/_mxq", encoding="utf-8") as file:
            self.assertIn("'--archs[", file.read())
        with open(self.prefix + "/share/fish/vendor_completions.d/mxq.fish",
                  encoding="utf-8") as file:
            self.assertIn("from emit' -l archs -r", file.read())

    def test_notices(self):
        folder = self.prefix + "/share/doc/mxq/"
        with open(folder + "THIRD-PARTY", encoding="utf-8") as file:
            text = file.read()
        for owner in "PUC-Rio", "Yann Collet", "Dave Gamble":
            self.assertIn(owner, text)
        self.assertTrue(os.path.exists(folder + "copyright"))

    def test_packages_and_uninstalling(self):
        out = self.path("packages")
        run("cpack", "--config", BUILD + "/CPackConfig.cmake", "-G", "TGZ;DEB", "-B", out)
        names = os.listdir(out)
        deb = [out + "/" + name for name in names if name.endswith(".deb")]
        tgz = [out + "/" + name for name in names if name.endswith(".tar.gz")]
        self.assertEqual((len(deb), len(tgz)), (1, 1), names)
        listing = run("dpkg-deb", "-c", deb[0]) if shutil.which("dpkg-deb") else None
        os.makedirs(self.path("unpacked"))
        run("tar", "-xzf", tgz[0], "-C", self.path("unpacked"), "--strip-components=1")
        self.assertRegex(run(self.path("unpacked/bin/mxq"), "--version"), r"^mxq \d")
        self.assertEqual(files_of(self.path("unpacked")), files_of(self.prefix))
        if listing:
            packed = sorted(re.findall(r" \./usr/(\S*[^/\s])(?: -> .*)?$", listing, re.M))
            self.assertEqual(packed, files_of(self.prefix))
            self.assertIn("libc6", run("dpkg-deb", "-f", deb[0], "Depends"))
        # Uninstalling takes away what installing brought, and nothing else.
        prefix = self.path("prefix")
        os.makedirs(prefix + "/share/doc/other")
        run("cmake", "--install", BUILD, "--prefix", prefix)
        self.assertEqual(files_of(prefix), files_of(self.prefix))
        run("cmake", f"-DMANIFEST={BUILD}/install_manifest.txt", "-P",
            SOURCE + "/cmake/uninstall.cmake")
        self.assertEqual(files_of(prefix), [])
        left = [where for where, folders, names in os.walk(prefix) if where.endswith("/mxq")]
        self.assertEqual(left, [])
        self.assertTrue(os.path.isdir(prefix + "/share/doc/other"))

    def test_sizes_are_as_stated(self):
        with open(SOURCE + "/docs/aot.md", encoding="utf-8") as file:
            rows = re.findall(r"^\| (.+?) \| at most (\d+) KiB \|$", file.read(), re.M)
        limits = {what.split(" ")[0].strip("`"): int(limit) * 1024 for what, limit in rows}
        self.assertEqual(set(limits), {"libmxq.so", "libmxq-aot.so", "N.blob"})
        sizes = {}
        for library in "libmxq.so", "libmxq-aot.so":
            run("strip", "-o", self.path("stripped"), f"{self.lib}/{library}")
            sizes[library] = os.path.getsize(self.path("stripped"))
        run(self.mxq, "emit", self.write("one/m.txt", NAME), "--archs", "90a", "-o",
            self.path("one/out"))
        sizes["N.blob"] = os.path.getsize(self.path("one/out/kernels.blob"))
        print({name: f"{size / 1024:.0f} KiB" for name, size in sizes.items()})
        for name, size in sizes.items():
            self.assertLessEqual(size, limits[name], name)
            # A limit that is far away holds nothing.
            self.assertGreater(size, limits[name] * 0.25, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
