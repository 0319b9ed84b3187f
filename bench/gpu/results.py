"""What a run on a GPU found, as one JSON file that is whole at any moment, and that a later run goes on from."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
SOURCES = ("workbench", "tests", "bench")
SECTIONS = ("tests", "bench")

Entry = dict[str, Any]


def sources_digest(root: Path = ROOT) -> str:
    """Which text was measured, also where there is no git: a digest of the Python files."""
    digest = hashlib.sha256()
    files = sorted(path for folder in SOURCES for path in (root / folder).rglob("*.py"))
    for path in files:
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Results:
    """`tests` and `bench` by name, `facts` of the machine, `notes` of what went wrong; `save` writes JSON and table.

    Files go to the folder $OUT if that variable is set, else to bench/results.
    """

    def __init__(self, digest: str, folder: Path | None = None) -> None:
        out = os.environ.get("OUT")
        self.folder = folder or (Path(out) if out else RESULTS)
        self.digest = digest
        self.facts: dict[str, Any] = {}
        self.sections: dict[str, dict[str, Entry]] = {name: {} for name in SECTIONS}
        self.notes: list[str] = []
        self.started = datetime.now(UTC).isoformat(timespec="seconds")

    def go_on_from(self, file: Path) -> bool:
        """Take over what an earlier run of the same sources found; whether there was any."""
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if found.get("sources") != self.digest:
            return False
        for name in SECTIONS:
            self.sections[name] = {**found.get(name, {}), **self.sections[name]}
        self.started = min(self.started, found.get("date", self.started))
        self.facts = {**found.get("facts", {}), **self.facts}
        return True

    def note(self, text: str) -> None:
        """Something went wrong that a reader should know."""
        print(text, flush=True)
        self.notes.append(text)

    @property
    def file(self) -> Path:
        """The JSON: named by the GPU and the day, so that a later run of the day replaces it."""
        gpu = re.sub(r"[^a-z0-9]+", "-", str(self.facts.get("gpu", "gpu")).lower()).strip("-")
        return self.folder / f"{self.started[:10].replace('-', '')}-{gpu}-{self.digest[:7]}.json"

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        said = {"date": self.started, "sources": self.digest, "facts": self.facts}
        return {**said, **self.sections, "notes": self.notes}

    def save(self) -> Path:
        """Write the JSON and the table; no reader sees half of one."""
        from bench.gpu.tables import markdown

        self.folder.mkdir(parents=True, exist_ok=True)
        content = self.as_json()
        _write(self.file, json.dumps(content, indent=1))
        _write(self.file.with_suffix(".md"), markdown(content) + "\n")
        return self.file


def _write(file: Path, text: str) -> None:
    """Results are kept in the tree, where no machine's folders belong; errors name files by them."""
    text = text.replace(f"{ROOT}/", "").replace(f"{sys.prefix}/", "")
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
