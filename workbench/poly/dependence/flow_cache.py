"""What is remembered of one array by all that it depends on: who touches the cells, and in which order.

A step of a schedule rarely moves what touches one array, but for isl everything is new where only the number of a
place in a sequence is.  So times are written as short as their order allows.

    S0[i] → (0, i, 2, 0), S1[i] → (0, i, 5, 0)      →      S0[i] → (i, 0), S1[i] → (i, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, naive_tree, time_components
from workbench.records import record

Times = Mapping[str, Sequence[str]]
"""isl tuple of an instance, `S0[i, j]` → the components of its time."""


@record
class Scene:
    """A program in its naive order, as far as one array is concerned.

    Scenes are equal where the same statements touch the array in the same order, whatever else a program does.
    """

    program: Program = field(compare=False, repr=False)
    array: str
    key: tuple[object, ...]

    @classmethod
    def of(cls, program: Program, array: str) -> Scene:
        own = [s for s in program.statements if any(a.array == array for a in s.accesses)]
        order = shortened(times_of(program, own))
        times = tuple((name, tuple(row)) for name, row in order.items())
        given = program.original.key, program.symbols, tuple(program.sizes.items()), program.context
        whole = program.reference is None
        return cls(program, array, (given, whole, program.arrays[array], tuple(s.digest for s in own), times))


def times_of(program: Program, own: list[ProgramStatement]) -> Times:
    """When statements are executed, in the naive order."""
    return {instance(s): _time(program, naive_tree(program), s.id) for s in own}


@lru_cache(maxsize=4096)
def _time(program: Program, tree: Tree, statement: str) -> tuple[str, ...]:
    return tuple(time_components(program, tree, statement))


def sources(
    sinks: isl.UnionMap, must: isl.UnionMap | None, may: isl.UnionMap | None, times: Times, prefix: str
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """From writes to the reads that find them, and the reads that may find nothing certain.

    `prefix` is isl's list of the parameters in `times`.  BudgetExceeded where isl trips over itself.
    """
    certain, possible = (None if x is None else isl.text_of(x) for x in (must, may))
    pieces = "; ".join(f"{name} -> [{', '.join(row)}]" for name, row in shortened(times).items())
    return _analysed(isl.text_of(sinks), certain, possible, f"{prefix}{{ {pieces} }}")


@lru_cache(maxsize=2048)
def _analysed(sinks: str, must: str | None, may: str | None, times: str) -> tuple[isl.UnionMap, isl.UnionMap]:
    from workbench.poly.dependence.piecewise_flow import last_writes  # for flow that bounds do not show

    certain, possible = (None if text is None else isl.parse_union_map(text) for text in (must, may))
    return last_writes(isl.parse_union_map(sinks), certain, possible, isl.parse_union_map(times))


def shortened(times: Times) -> dict[str, list[str]]:
    """Times in the same order: filled up to one length, places numbered from 0, what is everywhere one place left out.

    >>> shortened({"S[i]": ["0", "i", "2"], "T[j]": ["0", "j", "5", "j"]})
    {'S[i]': ['i', '0', '0'], 'T[j]': ['j', '1', 'j']}
    """
    length = max(map(len, times.values()), default=0)
    filled = [[*row, *["0"] * (length - len(row))] for row in times.values()]
    columns = [c for c in map(_numbered, zip(*filled, strict=True)) if set(c) != {"0"}]
    return {name: [c[place] for c in columns] for place, name in enumerate(times)}


def _numbered(column: tuple[str, ...]) -> tuple[str, ...]:
    """Numbers by their rank; a column with anything else as it is."""
    if not all(text.removeprefix("-").isdecimal() for text in column):
        return column
    ranks = {value: str(rank) for rank, value in enumerate(sorted({int(text) for text in column}))}
    return tuple(ranks[int(text)] for text in column)
