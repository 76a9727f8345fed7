#!/bin/sh
# Puts together as much of CUDA 12.4's compiler as the kernels need, without installing anything. nvcc comes from Debian 13's package, which PyPI
# does not have; its headers and the static runtime come from NVIDIA's packages on PyPI. The runtime is that of 12.9: Debian's of 12.4 is in a
# package of 934 MB, PyPI has no other static one, and all releases of CUDA 12 have one interface. Downloads 117 MB, needs no root, takes 150 MB.
#   cuda12_toolkit.sh FOLDER       then: FOLDER/bin/nvcc
# Exit codes: 0; 2 wrong arguments, or something is not available.
set -eu
[ $# -eq 1 ] || { echo "cuda12_toolkit.sh: one folder is needed, and there are $# arguments" >&2; exit 2; }
[ ! -e "$1/complete" ] || exit 0
rm -rf "$1"
mkdir -p "$1"
folder=$(realpath "$1")
scratch=$folder/scratch
fail() { echo "cuda12_toolkit.sh: $1" >&2; exit 2; }

mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie non-free" >"$scratch/sources.list"
apt="apt-get -qq -o Dir::Etc::sourcelist=$scratch/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$scratch/lists
  -o Dir::Cache=$scratch/cache -o Acquire::Languages=none -o APT::Sandbox::User=$(id -un)"
(cd "$scratch" && $apt update && $apt download nvidia-cuda-toolkit) ||
  fail "apt-get cannot download nvidia-cuda-toolkit of Debian 13 (trixie, non-free); its keys are in debian-archive-keyring 2023.3+deb12u2 or later"
dpkg-deb -x "$scratch"/nvidia-cuda-toolkit_12.4.*.deb "$scratch/debian" || fail "Debian's nvidia-cuda-toolkit is not of 12.4 any more"
python3 -m venv "$scratch/environment" || fail "python3 makes no environment (apt install python3-venv)"
for packages in "headers nvidia-cuda-nvcc-cu12==12.4.131 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-cccl-cu12==12.9.27" \
  "runtime nvidia-cuda-runtime-cu12==12.9.79"; do
  "$scratch/environment/bin/pip" install -q --disable-pip-version-check --no-deps --target "$scratch/${packages%% *}" ${packages#* } ||
    fail "pip cannot install ${packages#* }"
done

mkdir -p "$folder/bin" "$folder/nvvm/bin" "$folder/include" "$folder/lib64"
debian=$scratch/debian/usr
for program in ptxas cudafe++ fatbinary bin2c nvlink; do mv "$debian/bin/$program" "$folder/bin/"; done
mv "$debian/lib/nvidia-cuda-toolkit/bin/nvcc" "$debian/lib/nvidia-cuda-toolkit/bin/crt" "$folder/bin/"
mv "$debian/lib/nvidia-cuda-toolkit/bin/cicc" "$folder/nvvm/bin/"
mv "$debian/lib/nvidia-cuda-toolkit/libdevice" "$folder/nvvm/"
for part in cuda_nvcc cuda_runtime cuda_cccl; do cp -r "$scratch/headers/nvidia/$part/include/." "$folder/include/"; done
mv "$scratch/runtime/nvidia/cuda_runtime/lib/libcudart_static.a" "$folder/lib64/"
# nvcc names this library when it links; it may be empty, since no kernel launches another.
ar rc "$folder/lib64/libcudadevrt.a"
cat >"$folder/bin/nvcc.profile" <<'END'
TOP = $(_HERE_)/..
PATH += $(TOP)/nvvm/bin:$(_HERE_):
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
END
rm -rf "$scratch"
touch "$folder/complete"
