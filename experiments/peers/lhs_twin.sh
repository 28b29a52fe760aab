#!/usr/bin/env bash
# LHS end to end in lhs and in two PyTorch programs, one after the other on the same threads: twin.py does the same work as a good PyTorch user
# would write it, literal.py follows the paper (N x N throughout). One split, one member, no refinement, 200 epochs, channels and joins fixed.
# Prints a Markdown table with the ratios, and with CSV=FILE adds rows for results/ there. Exits 1 when lhs is less than 2 times faster than
# the twin or 20 times than the literal one, or needs more than a third of the memory of either.
# Usage: LHS_DATA=FOLDER experiments/peers/lhs_twin.sh [GRAPH...]      (default: the nine)     THREADS=2 ROUNDS=3 LIMIT=600 (seconds)
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${LHS_DATA:?set LHS_DATA to the folder of the graphs}"
export LHS_PEERS=${LHS_PEERS:-target/peers}
"$LHS_PEERS/bin/python" -c 'import torch, scipy' 2>/dev/null || experiments/peers/install.sh "$LHS_PEERS"
export LHS=${LHS:-target/release/lhs}
[ "$LHS" != target/release/lhs ] || cargo build --release --quiet
[ $# -gt 0 ] || set -- texas cornell wisconsin chameleon squirrel actor cora citeseer pubmed
exec "$LHS_PEERS/bin/python" experiments/peers/lhs_twin.py "$@"
