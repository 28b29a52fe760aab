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


def symbols(library: Path, which: str) -> set[tuple[str, str]]:
    """The names that a library has or lacks, each with its version, if it has one."""
    names = (line.split()[-1].partition("@") for line in lines("nm", "-D", which, library))
    return {(name, version.lstrip("@")) for name, _, version in names}


def versions(library: Path) -> dict[str, str]:
    """From which library each version of a name is expected."""
    found, of = {}, ""
    for line in lines("objdump", "-p", library):
        if "required from" in line:
            of = line.split()[-1].rstrip(":")
        elif of and line.strip().startswith("0x"):
            found[line.split()[-1]] = of
    return found


def build(path: Path, names: dict[str, list[str]]) -> None:
    """A library of functions that say that there is no device, by version."""
    with tempfile.TemporaryDirectory() as temporary:
        source, script = Path(temporary) / "no_device.c", Path(temporary) / "versions"
        functions = sorted({name for group in names.values() for name in group})
        source.write_text("".join(f"long {name}(void) {{ return 100; }}\n" for name in functions))
        script.write_text("".join(f"{version} {{ global: {'; '.join(group)}; }};\n" for version, group in names.items() if version))
        command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{path.name}", "-o", path, source]
        subprocess.run([*command, *([f"-Wl,--version-script={script}"] if script.stat().st_size else [])], check=True)


def main() -> None:
    """Builds what lacks beside the libraries of PyTorch."""
    folder = Path(sysconfig.get_paths()["platlib"]) / "torch" / "lib"
    own = sorted(folder.glob("*.so*"))
    needed = {line.split()[1] for library in own for line in lines("objdump", "-p", library) if "NEEDED" in line}
    lacking: dict[str, dict[str, list[str]]] = {name: {} for name in sorted(needed) if LIBRARY.fullmatch(name) and not (folder / name).exists()}
    if not lacking:
        return
    there = {name for library in own for name, _ in symbols(library, "--defined-only")}
    wanted = {one for library in own for one in symbols(library, "--undefined-only") if FUNCTION.match(one[0]) and one[0] not in there}
    expected = {version: of for library in own for version, of in versions(library).items()}
    for name, version in sorted(wanted):
        # Names without a version are found wherever they are.
        of = expected.get(version, next(iter(lacking)))
        lacking.get(of, {}).setdefault(version, []).append(name)
    for name, functions in lacking.items():
        build(folder / name, functions)
    print(f"{len(lacking)} libraries without a device: {', '.join(lacking)}", file=sys.stderr)


if __name__ == "__main__":
    main()
