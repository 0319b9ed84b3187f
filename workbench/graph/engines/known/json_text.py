"""The engine `json`: a region as a text of JSON, which a small interpreter of its own runs in NumPy."""

from __future__ import annotations

import json as text
from pathlib import Path
from typing import Any

from workbench.graph.engines.arrays.in_numpy import computed
from workbench.graph.engines.arrays.lowering import array_program, why_no_arrays
from workbench.graph.engines.arrays.programs import ArrayProgram, from_plain
from workbench.graph.engines.engine_records import Answer, engine
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Subgraph
from workbench.records import record

_FILE = "region.json"


@record(eq=False)
class JsonProgram:
    """A program read from JSON, with the constants that the model has and the text does not."""

    program: ArrayProgram
    constants: tuple[Any, ...]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The results for arrays."""
        return computed(self.program, (*arrays, *self.constants))

    def text(self) -> str:
        """The program as JSON."""
        return text.dumps(self.program.plain())


@engine("json")
class json:
    """Regions as JSON; constants stay in the model, the text only counts them."""

    def supports(self, site: Site) -> Answer:
        """Whether a call is an array program."""
        return why_no_arrays(site) or True

    def compile(self, region: Subgraph) -> JsonProgram:
        """Written and read: what runs is what a file would hold."""
        return self._read(region, text.dumps(array_program(region).plain()))

    def save(self, compiled: JsonProgram, folder: Path) -> None:
        """Write the text."""
        (folder / _FILE).write_text(compiled.text(), encoding="utf-8")

    def load(self, region: Subgraph, folder: Path) -> JsonProgram:
        """Read it again."""
        return self._read(region, (folder / _FILE).read_text(encoding="utf-8"))

    def _read(self, region: Subgraph, source: str) -> JsonProgram:
        return JsonProgram(from_plain(text.loads(source)), tuple(region.constants.values()))
