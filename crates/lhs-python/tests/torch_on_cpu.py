"""Makes PyTorch from PyPI importable without CUDA.

PyPI's wheel for Linux on x86 needs 3 GB of CUDA libraries to be loaded, though a processor computes nothing with them. Installed alone
(`pip install --no-deps torch`), it only lacks their names: this builds libraries that have them, in which every function says that there is no
device (error 100). For tests on machines without a GPU, and for nothing else. Needs cc, nm and objdump. Where nothing lacks, it does nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

#: How names of functions and libraries of CUDA begin.
FUNCTION = re.compile(r"(cu|__cuda|nccl|nv)")
LIBRARY = re.compile(r"lib(cu|nv|nccl)[^/]*\.so[.0-9]*")


def lines(*command: str | Path) -> list[str]:
    """What a command prints."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> None:
    """Builds what lacks beside the libraries of PyTorch."""
    folder = Path(sysconfig.get_paths()["platlib"]) / "torch" / "lib"
    own = sorted(folder.glob("*.so*"))
    needed = {line.split()[1] for library in own for line in lines("objdump", "-p", library) if "NEEDED" in line}
    lacking = sorted(name for name in needed if LIBRARY.fullmatch(name) and not (folder / name).exists())
    if not lacking:
        return
    wanted = {line.split()[-1].partition("@")[0] for library in own for line in lines("nm", "-D", "--undefined-only", library)}
    there = {line.split()[-1].partition("@")[0] for library in own for line in lines("nm", "-D", "--defined-only", library)}
    functions = sorted(name for name in wanted - there if FUNCTION.match(name))
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "no_device.c"
        source.write_text("".join(f"long {name}(void) {{ return 100; }}\n" for name in functions))
        for name in lacking:
            subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{name}", "-o", folder / name, source], check=True)
    print(f"{len(lacking)} libraries without a device: {', '.join(lacking)}", file=sys.stderr)


if __name__ == "__main__":
    main()
