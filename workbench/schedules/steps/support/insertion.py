"""Putting new statements beside what a loop contains; the loops around get rows for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.lang.expr import Expr, Index
from workbench.poly.programs.tree import Band, Loop, Mark, Sequence, Tree, statements
from workbench.schedules.edit import Path, Site, normal, rest_of

Rows = Mapping[str, tuple[Expr, ...]]


def inserted_beside(tree: Tree, site: Site, before: list[Tree], after: list[Tree], times: tuple[str, ...]) -> Tree:
    """The tree with new subtrees before and after what stands in the site's loop.

    `times` names the new statements' dims for the loops around, outermost first.
    """
    ids = [s for part in (*before, *after) for s in statements(part)]
    return normal(_along(tree, site, site.path, (before, after), ids, times))


def first_user(site: Site, users: set[str]) -> int:
    """The position, in what stands in the site's loop, of the first part that holds one of these statements."""
    inside = rest_of(site)
    parts = inside.children if isinstance(inside, Sequence) else (inside,)
    return next(i for i, part in enumerate(parts) if users & set(statements(part)))


def inserted_within(tree: Tree, site: Site, position: int, new: Tree, rows: Rows) -> Tree:
    """The tree with a new subtree among what stands in the site's loop, before the part at `position`.

    `rows` gives each new statement its rows for the loops around, outermost first.
    """
    return normal(_into(tree, site, site.path, (position, new), rows))


def _into(tree: Tree, site: Site, path: Path, new: tuple[int, Tree], rows: Rows) -> Tree:
    match tree:
        case Band(loops, child):
            count = len(loops) if path else site.position + 1
            outer = tuple(_with_rows(x, {s: r[i] for s, r in rows.items()}) for i, x in enumerate(loops[:count]))
            if path:
                return Band(outer, _into(child, site, path[1:], new, {s: r[count:] for s, r in rows.items()}))
            inside = rest_of(site)
            parts = inside.children if isinstance(inside, Sequence) else (inside,)
            return Band(outer, Sequence((*parts[: new[0]], new[1], *parts[new[0] :])))
        case Mark(_, child):
            return replace(tree, child=_into(child, site, path[1:], new, rows))
        case Sequence(children):
            own = list(children)
            own[path[0]] = _into(own[path[0]], site, path[1:], new, rows)
            return Sequence(tuple(own))
    raise AssertionError("a loop stands in a band")


def behind(tree: Tree, site: Site, new: Tree, rows: Rows) -> Tree:
    """The tree with a new subtree right after the site's loop; `rows` are for the loops around that."""
    if site.position:
        outer = Site(site.path, site.position - 1, site.band)
        return inserted_within(tree, outer, 1, new, rows)
    return normal(_after(tree, site.path, new, rows))


def _after(tree: Tree, path: Path, new: Tree, rows: Rows) -> Tree:
    if not path:
        return Sequence((tree, new))
    match tree:
        case Band(loops, child):
            outer = tuple(_with_rows(x, {s: r[i] for s, r in rows.items()}) for i, x in enumerate(loops))
            return Band(outer, _after(child, path[1:], new, {s: r[len(loops) :] for s, r in rows.items()}))
        case Mark(_, child):
            return replace(tree, child=_after(child, path[1:], new, rows))
        case Sequence(children):
            own = list(children)
            own[path[0]] = _after(own[path[0]], path[1:], new, rows)
            return Sequence(tuple(own))
    raise AssertionError("a loop stands in a band")


def _with_rows(loop: Loop, rows: Mapping[str, Expr]) -> Loop:
    return replace(loop, rows=tuple(sorted((*loop.rows, *rows.items()))))


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
        case Mark(_, child):
            return replace(tree, child=_along(child, site, path[1:], parts, ids, times))
        case Sequence(children):
            own = list(children)
            own[path[0]] = _along(own[path[0]], site, path[1:], parts, ids, times)
            return Sequence(tuple(own))
    raise AssertionError("a loop stands in a band")


def _row(loop: Loop, ids: list[str], dim: str) -> Loop:
    """The loop with a row for each new statement."""
    return replace(loop, rows=tuple(sorted((*loop.rows, *((s, Index(dim)) for s in ids)))))
