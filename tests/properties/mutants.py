"""Checkers with one rule left out or changed: each is a name of the product and what stands in its place.

The table is data for `test_mutants.py`; `seed` is a program of the campaign that notices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from workbench import poly
from workbench.lang.expr import Const
from workbench.poly.dependence import flow, lockstep
from workbench.poly.dependence import violations as legal
from workbench.poly.programs.program import Dependence
from workbench.poly.time import timemap
from workbench.schedules import legality
from workbench.schedules.legality import Verdict


@dataclass(frozen=True)
class Mutant:
    """`make` takes the original of `module.attribute` and gives what replaces it."""

    module: Any
    attribute: str
    make: Callable[[Callable[..., Any]], Callable[..., Any]]
    seed: int = 0


def kept(keep: Callable[[Dependence], bool]) -> Callable[..., Any]:
    """Only some dependences are seen."""
    return lambda original: lambda program: tuple(d for d in original(program) if keep(d))


def changed(**fields: Any) -> Callable[..., Any]:
    """Dependences with some fields overwritten."""
    return lambda original: lambda program: tuple(replace(d, **fields) for d in original(program))


def compared(**instead: str) -> Callable[..., Any]:
    """Another comparison than the one asked for: `less`, `equal`, `more` or `differ` by name."""
    signs = {"less": "<", "equal": "=", "more": ">", "differ": "!="}
    table = {signs[name]: sign for name, sign in instead.items()}

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: original(*arguments[:-1], table.get(arguments[-1], arguments[-1]))

    return make


def ruled(kind: str, rule: str | None, *, reductions: bool | None = None) -> Callable[..., Any]:
    """Loops of one kind forbid another comparison (for reductions only, for the others only, or for all)."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def forbidden(loop: Any, dependence: Dependence) -> tuple[str | None, str]:
            concerned = reductions is None or reductions == (dependence.kind == "reduction")
            given = original(loop, dependence)
            return (rule, given[1]) if loop.kind == kind and concerned else given

        return forbidden

    return make


def shared(change: Callable[[timemap.Shared], timemap.Shared]) -> Callable[..., Any]:
    """What two statements have in common, changed."""
    return lambda original: lambda *arguments: change(original(*arguments))


def always(value: Any) -> Callable[..., Any]:
    """The same answer to everything."""
    return lambda original: lambda *_, **__: value


def first_only(original: Callable[..., Any]) -> Callable[..., Any]:
    """The first thing found is taken for all."""

    def found(*arguments: Any) -> Iterable[Any]:
        yield from list(original(*arguments))[:1]

    return found


def renamed(outcome: str, instead: Any, when: Callable[[Verdict], bool]) -> Callable[..., Any]:
    """A verdict is called another."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def judge(*arguments: Any) -> Verdict:
            verdict = original(*arguments)
            return replace(verdict, outcome=instead) if verdict.outcome == outcome and when(verdict) else verdict

        return judge

    return make


def some_inexact(verdict: Verdict) -> bool:
    """Whether some violation is of a may-dependence."""
    return any(v.dependence is not None and not v.dependence.exact for v in verdict.violations)


def one_place_less(original: Callable[..., Any]) -> Callable[..., Any]:
    """Local arrays are stored in one place too few in each dimension."""

    def smaller(kept: tuple[int, Any, Any]) -> tuple[int, Any, Any]:
        position, lower, extent = kept
        fits = isinstance(extent, Const) and extent.value > 1
        return (position, lower, replace(extent, value=extent.value - 1)) if fits else kept

    return lambda *arguments: tuple(replace(s, kept=tuple(map(smaller, s.kept))) for s in original(*arguments))


MUTANTS = {
    **{f"{kind} dependences are not seen":
       Mutant(legal, "dependences", kept(lambda d, k=kind: d.kind != k), int(kind == "flow")) for kind in flow.KINDS},
    "dependences of a statement on itself are not seen":
        Mutant(legal, "dependences", kept(lambda d: d.source == d.target)),
    "dependences between two statements are not seen":
        Mutant(legal, "dependences", kept(lambda d: d.source != d.target)),
    "reductions are taken for ordinary updates": Mutant(legal, "dependences", changed(kind="output")),
    "may-dependences are taken for certain": Mutant(legal, "dependences", changed(exact=True), 2),
    "certain dependences are taken for possible": Mutant(legal, "dependences", changed(exact=False)),
    "one inexact violation makes all of them so":
        Mutant(legality, "judge", renamed("illegal", "unproved", some_inexact), 2),
    "unproved is called illegal": Mutant(legality, "judge", renamed("unproved", "illegal", some_inexact), 22),
    "unproved is called legal": Mutant(legality, "judge", renamed("unproved", "legal", some_inexact), 22),
    "backwards is allowed by one": Mutant(legal, "compare_text", compared(more="> 1 +")),
    "standing still is forbidden": Mutant(legal, "compare_text", compared(more=">=")),
    "iterations that differ may race upwards": Mutant(legal, "compare_text", compared(differ=">")),
    "iterations that differ may race downwards": Mutant(legal, "compare_text", compared(differ="<")),
    "inner loops are judged under smaller outer ones": Mutant(legal, "compare_text", compared(equal="<=")),
    "inner loops are judged under larger outer ones": Mutant(legal, "compare_text", compared(equal=">=")),
    "inner loops are judged under other outer ones": Mutant(legal, "compare_text", compared(equal="!=")),
    "parallel loops order their iterations": Mutant(legal, "_forbidden", ruled("parallel", ">")),
    "parallel loops never race": Mutant(legal, "_forbidden", ruled("parallel", None)),
    "contributions may arrive at once": Mutant(legal, "_forbidden", ruled("parallel", None, reductions=True)),
    "lanes never race": Mutant(legal, "_forbidden", ruled("vector", None), 1),
    "lanes of a reduction race": Mutant(legal, "_forbidden", ruled("vector", "!=")),
    "lanes are not in lockstep": Mutant(legal, "out_of_lockstep", lambda original: lambda _, lanes, *__: lanes, 10),
    "lanes in lockstep never race": Mutant(legal, "out_of_lockstep", always(None), 1),
    "lockstep does not look at the lanes": Mutant(lockstep, "compare", compared(more="<"), 10),
    "lockstep does not look at statements":
        Mutant(legal, "out_of_lockstep", lambda original: lambda p, lanes, ends, common, depth: original(
            p, lanes, ends, replace(common, position=-1), depth), 1),
    "serial loops may run backwards": Mutant(legal, "_forbidden", ruled("serial", None)),
    "unrolled loops may run backwards": Mutant(legal, "_forbidden", ruled("unroll", None), 3),
    "reductions keep their order": Mutant(legal, "_forbidden", ruled("serial", ">")),
    "the order of statements does not matter": Mutant(legal, "shared", shared(lambda s: replace(s, position=-1))),
    "later statements count as too late": Mutant(legal, "shared", shared(lambda s: replace(s, position=1))),
    "only the outermost loop is looked at": Mutant(legal, "shared", shared(lambda s: replace(s, loops=s.loops[:1]))),
    "the innermost loop is not looked at": Mutant(legal, "shared", shared(lambda s: replace(s, loops=s.loops[:-1]))),
    "the outermost loop is not looked at": Mutant(legal, "shared", shared(lambda s: replace(s, loops=s.loops[1:]))),
    "instances may share a time": Mutant(legal, "collisions", always(None), 3),
    "valid sizes know the first wrong level only": Mutant(legal, "_wrong", first_only, 151),
    "statements in a sequence have no order": Mutant(flow, "before", lambda original: lambda p, tree, s, t, *rest:
        list(original(p, tree, s, t, *rest))[:-1] if s != t else original(p, tree, s, t, *rest)),
    "updates that read their own cell are reordered": Mutant(flow, "_made", lambda original: lambda p, kind, *rest:
        original(p, "reduction" if kind == "anti" and rest[1] is rest[2] and rest[1].relaxed else kind, *rest), 11),
    "what copies bring is not looked at": Mutant(poly, "differences", always(()), 9),
    "micro-kernels are taken to run in order": Mutant(legality, "as_executed", lambda original: lambda tree: tree, 49),
    "a local array has one place too few": Mutant(poly, "storage_of", one_place_less, 6),
}  # fmt: skip
