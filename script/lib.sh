# SPDX-License-Identifier: MIT
# Shared by bootstrap, demo and test: where things are, and how they are found. Sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
minimum_cuda=12090 # 1000 * major + 10 * minor: the oldest that the runtime accepts

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the CUDA version that the header $1 is of, 0 if there is none.
cuda_header_version() {
  local version=
  [[ -f $1 ]] && version=$(sed -n 's/^#define  *CUDA_VERSION  *\([0-9]*\).*/\1/p' "$1" | head -1)
  say "${version:-0}"
}

# Prints the folders that may hold a toolkit, one a line.
cuda_homes() {
  local nvcc
  for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [[ -n $home ]] && say "$home"
  done
  if nvcc=$(command -v nvcc); then
    dirname "$(dirname "$(readlink -f "$nvcc")")"
  fi
  say /usr
}

# Prints the major version of CUDA that the driver runs, 0 without a driver. Starts no device.
driver_major() {
  python3 - <<'PYTHON'
import ctypes
version = ctypes.c_int(0)
try:
    ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
except OSError:
    pass
print(version.value // 1000)
PYTHON
}

# Prints why no GPU can be used here, or nothing if one can.
why_no_gpu() {
  python3 - <<'PYTHON'
import ctypes
count = ctypes.c_int(0)
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    print("no NVIDIA driver (libcuda.so.1 is not there)")
else:
    code = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    if code:
        print("an NVIDIA driver that does not start (CUDA error %d)" % code)
    elif not count.value:
        print("an NVIDIA driver, but no GPU")
PYTHON
}

# Sets cuda_include to the folder of CUDA's headers, and nvrtc to the run-time compiler: of a
# toolkit that is new enough, else of the wheels in .venv, else empty. A driver of CUDA 12 cannot
# load what NVRTC 13 makes, so an NVRTC above the driver's major version is passed over. The
# library makes the same choice by itself; this one tells whether there is anything to choose.
cuda_find() {
  local home include library version driver wheels
  cuda_include= nvrtc=
  driver=$(driver_major)
  while read -r home; do
    for include in "$home/include" "$home/targets/$(uname -m)-linux/include"; do
      version=$(cuda_header_version "$include/cuda.h")
      ((version >= minimum_cuda)) && [[ -f $include/cudaTypedefs.h ]] || continue
      : "${cuda_include:=$include}"
      ((driver == 0 || version / 1000 <= driver)) || continue
      for library in "$home"/{lib64,lib,"lib/$(uname -m)-linux-gnu"}/libnvrtc.so.$((version / 1000)); do
        [[ -f $library ]] && : "${nvrtc:=$library}"
      done
    done
  done < <(cuda_homes)
  for wheels in "$venv"/lib/python3*/site-packages/nvidia; do
    [[ -f $wheels/cu13/include/cudaTypedefs.h ]] && : "${cuda_include:=$wheels/cu13/include}"
    library=$wheels/cu13/lib/libnvrtc.so.13
    ((driver == 12)) && library=$wheels/cuda_nvrtc/lib/libnvrtc.so.12
    [[ -f $library ]] && : "${nvrtc:=$library}"
  done
  return 0
}

# Whether .venv holds what requirements file $1 asks for.
is_installed() { cmp -s "$root/script/$1" "$venv/.installed-$1"; }

# Configures folder $1 with preset $2 and builds the targets after it (all without any). Prints
# the compiler's output only on failure.
build() {
  local folder=$1 preset=$2 log
  shift 2
  cuda_find
  mkdir -p "$folder"
  log=$folder/build.log
  if ! (cd "$root" &&
    cmake --preset "$preset" -B "$folder" -DMXQ_CUDA_INCLUDE="$cuda_include" &&
    cmake --build "$folder" ${1:+--target "$@"}) >"$log" 2>&1; then
    grep -nE -A12 'error|FAILED|CMake Error' "$log" | head -60 >&2 || true
    fail "the build in $folder failed; all of its output is in $log"
  fi
  # A build folder below the checkout finds .venv by itself, any other one through this.
  [[ $nvrtc != "$venv"/* ]] || export VIRTUAL_ENV=$venv
}
