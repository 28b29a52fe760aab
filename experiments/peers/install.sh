#!/usr/bin/env bash
# Installs PyTorch (CPU use only) into a virtual environment of its own, below target/, never into the build.
# Usage: experiments/peers/install.sh [FOLDER]      (default: target/peers)
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=${1:-target/peers}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
# The wheel of the package index loads its GPU libraries even where there is no GPU: about 3 GB of disk.
"$venv/bin/pip" install --quiet torch torch_geometric numpy scipy setuptools
"$venv/bin/python" -c 'import torch; print("PyTorch", torch.__version__)'
