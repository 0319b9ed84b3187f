"""What the measurements of models have in common on the command line: threads, time, and where the numbers go."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench.facts import load, machine, software


def model_parser(description: str | None, name: str, *, seconds: float = 1.0) -> argparse.ArgumentParser:
    """A parser that knows --threads, --seconds, --rounds and --out (`bench/out/<name>.json`)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(f"bench/out/{name}.json"))
    return parser


def write_results(path: Path, results: list[dict[str, Any]]) -> None:
    """Write results as JSON, with the machine, the software and the load beside them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "software": software(), "load": load(), "results": results}
    path.write_text(json.dumps(facts, indent=1), encoding="utf-8")
