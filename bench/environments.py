"""Environments of their own for the peers: `python -m bench.environments jax onnxruntime` makes them.

Two thread pools in one process starve each other, and two libraries in one environment fight about NumPy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("WORKBENCH_BENCH_ENVIRONMENTS", ROOT / ".bench"))

# Peer → what pip installs.
PEERS: dict[str, tuple[str, ...]] = {
    "jax": ("jax==0.10.2", "numpy"),
    "halide": ("halide==21.0.0", "numpy"),
    # A later apache-tvm-ffi ends the process when a search begins.
    "tvm": (
        "apache-tvm==0.27.0.post1", "apache-tvm-ffi==0.1.14.post0", "xgboost==3.2.0", "psutil", "cloudpickle", "numpy",
    ),
    "onnxruntime": ("onnxruntime==1.31.1", "onnx==1.23.2", "numpy"),
}  # fmt: skip

# Package → module, where they are named differently.
MODULES = {"apache-tvm": "tvm", "apache-tvm-ffi": "tvm_ffi"}


def interpreter(peer: str) -> str | None:
    """The Python that has a peer: that of its environment, else this one if it can import it."""
    own = FOLDER / peer / "bin" / "python"
    if own.exists():
        return str(own)
    modules = [MODULES.get(name, name) for name in (package.partition("=")[0] for package in PEERS[peer])]
    return sys.executable if all(find_spec(module) for module in modules) else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the environments; what is there already is brought to the versions asked for."""
    parser = argparse.ArgumentParser("python -m bench.environments", description=__doc__)
    parser.add_argument("peers", nargs="*", choices=[*PEERS, []], help="all if none", default=[])
    for peer in parser.parse_args(arguments).peers or PEERS:
        place = FOLDER / peer
        venv.create(place, with_pip=True)
        command = (str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *PEERS[peer])
        print(f"{peer}: {' '.join(PEERS[peer])}", flush=True)
        subprocess.run(command, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
