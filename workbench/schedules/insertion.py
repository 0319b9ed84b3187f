"""Putting new statements beside what a loop contains; the loops around get rows for them."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.expr import Index
from workbench.poly.tree import Band, Loop, Mark, Sequence, Tree, statements
from workbench.schedules.edit import Path, Site, normal, rest_of


def beside(tree: Tree, site: Site, before: list[Tree], after: list[Tree], times: tuple[str, ...]) -> Tree:
    """The tree with new subtrees before and after what stands in the site's loop.

    `times` names the new statements' dims for the loops around, outermost first.
    """
    ids = [s for part in (*before, *after) for s in statements(part)]
    return normal(_along(tree, site, site.path, (before, after), ids, times))


def _along(
    tree: Tree, site: Site, path: Path, parts: tuple[list[Tree], list[Tree]], ids: list[str], times: tuple[str, ...]
) -> Tree:
    match tree:
        case Band(loops, child) if not path:
            count = site.position + 1
            outer = tuple(_row(x, ids, t) for x, t in zip(loops[:count], times, strict=True))
            return Band(outer, Sequence((*parts[0], rest_of(site), *parts[1])))
        case Band(loops, child):
            outer = tuple(_row(x, ids, t) for x, t in zip(loops, times[: len(loops)], strict=True))
            return Band(outer, _along(child, site, path[1:], parts, ids, times[len(loops) :]))
        case Mark(_, _, child):
            return replace(tree, child=_along(child, site, path[1:], parts, ids, times))
        case Sequence(children):
            own = list(children)
            own[path[0]] = _along(own[path[0]], site, path[1:], parts, ids, times)
            return Sequence(tuple(own))
    raise AssertionError("a loop stands in a band")


def _row(loop: Loop, ids: list[str], dim: str) -> Loop:
    """The loop with a row for each new statement."""
    return replace(loop, rows=tuple(sorted((*loop.rows, *((s, Index(dim)) for s in ids)))))
