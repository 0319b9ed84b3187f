"""What a package is tested against: arguments, and the results of the operator's definition for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family
from workbench.export.dispatch.example_sizes import example_sizes, sizes_taken
from workbench.export.wheel.front_text import call_of
from workbench.lang.oracle.evaluation import evaluate
from workbench.ops.samples import sample_arrays, sample_out
from workbench.records import record

MOST = 6
"""Cases of an operator: its schedules' sizes, and some for the kernel of all others."""
MOST_CELLS, MOST_WORK = 1 << 18, 1 << 26
NUMBERS = (5, 16, 1, 8)
LOOSE = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2, "bfloat16": 4e-2}


@record(eq=False)
class Case:
    """A call: `arguments` in its order (sizes by keyword last), `results`, and how near they must be."""

    operator: str
    sizes: dict[str, int]
    arguments: tuple[Any, ...]
    results: tuple[Any, ...]
    tolerance: float


def cases_of(name: str, family: Family) -> list[Case]:
    """The cases of an operator that is called `name` in its package; at least one, or WorkbenchError says why not."""
    found: list[Case] = []
    reason: Exception | None = None
    for sizes in _chosen(family):
        try:
            found.append(_case(name, family, sizes))
        except (WorkbenchError, ValueError, IndexError) as refused:  # a definition that has none of these sizes
            reason = refused
    if not found:
        raise WorkbenchError(f"{family.op.name}: no arguments were found to test the package with: {reason}")
    return found


def _chosen(family: Family) -> Iterator[dict[str, int]]:
    """Those of the schedules that are small enough, awkward ones, and one that is always there."""
    distinct = {tuple(sorted(s.items())): s for s in sizes_taken(family, _candidates(family), MOST_CELLS)}
    small = [s for s in distinct.values() if float(np.prod([float(v) for v in s.values()])) <= MOST_WORK]
    yield from islice(small or [example_sizes(family)], MOST)


def _candidates(family: Family) -> Iterator[dict[str, int]]:
    op, known = family.op, [program.sizes for program in family.fallbacks]
    yield from (v.sizes for v in family.every_variant)
    for scalars in known:
        given = {**dict.fromkeys(op.scalars, 1), **scalars}
        for number in NUMBERS:
            yield {**{n: number + i for i, n in enumerate(op.size_names)}, **given}
    for scalars in known:
        for number in NUMBERS:
            yield {**dict.fromkeys(op.size_names, number), **dict.fromkeys(op.scalars, 1), **scalars}


def _case(name: str, family: Family, sizes: dict[str, int]) -> Case:
    op = family.op
    given, out = sample_arrays(op, seed=len(name), **sizes), sample_out(op, **sizes)
    everything = () if out is None else tuple(out) if isinstance(out, tuple) else (out,)
    updated = tuple(o for n, o in zip(op.outputs, everything, strict=False) if op.tensors[n].role == "inout")
    keywords: dict[str, Any] = {n: sizes[n] for n, kind, _ in call_of(family) if kind == "k"}
    found = evaluate(op, *given, out=out, **keywords)
    results = found if isinstance(found, tuple) else (found,)
    loose = max((LOOSE.get(op.tensors[n].dtype.name, 0.0) for n in (*op.outputs, *family.inputs)), default=0.0)
    return Case(name, sizes, (*given, *updated, *keywords.values()), tuple(map(np.asarray, results)), loose)


def stored(cases: list[Case], families: Mapping[str, Family]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(what a JSON file says of the cases, the arrays that stand beside it); bfloat16 as bits."""
    rows, arrays = [], {}
    for number, case in enumerate(cases):
        family = families[case.operator]
        kinds = call_of(family)
        for n, (_, kind, _) in enumerate(kinds):
            if kind in "au":
                arrays[f"{number}_in_{n}"] = _bits(case.arguments[n])
        for n, result in enumerate(case.results):
            arrays[f"{number}_out_{n}"] = _bits(result)
        numbers = {str(n): _plain(v) for n, v in enumerate(case.arguments) if kinds[n][1] not in "au"}
        rows.append({
            "operator": case.operator, "sizes": case.sizes, "call": kinds, "numbers": numbers,
            "results": [family.op.tensors[o].dtype.name for o in family.op.outputs], "tolerance": case.tolerance,
            "gpu": family.gpu is not None,
        })  # fmt: skip
    return rows, arrays


def _bits(array: Any) -> Any:
    found = np.asarray(array)
    return found.view(np.uint16) if found.dtype.name == "bfloat16" else found


def _plain(value: Any) -> Any:
    found = np.asarray(value)
    return (found.astype(np.float32) if found.dtype.name in ("bfloat16", "float16") else found).item()
