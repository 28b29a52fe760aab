"""The command `lhs`, as `python -m lhs_graph` and as a script."""

from __future__ import annotations

import signal
import sys

from . import _lhs


def main() -> int:
    """Runs the command line with this process's arguments and returns its exit code."""
    # The command stops by itself at the next epoch, and says so; Python would only remember the signal until it is over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _lhs.main(["lhs", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
