"""What the measurements of models have in common on the command line: threads, time, and where the numbers go."""

from __future__ import annotations

import argparse
from pathlib import Path


def model_parser(description: str | None, module: str, *, seconds: float = 1.0) -> argparse.ArgumentParser:
    """A parser that knows --threads, --seconds, --rounds and --out (`bench/out/`, by the module's last name)."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m {module}", description=description, formatter_class=shown)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(f"bench/out/{module.rpartition('.')[2]}.json"))
    return parser
