"""What lifetimes are, and what they refuse: one message for each mistake."""

from __future__ import annotations

import pytest

from workbench.errors import WorkbenchError
from workbench.graph.memory import Buffer, Lifetimes, Share, Step
from workbench.graph.memory.byte_counts import at_sizes, byte_bounds, never_above
from workbench.lang.algebra.polynomial import atom
from workbench.lang.expr import Binary, Const, Size

N, M = atom(Size("N")), atom(Size("M"))
BOUNDS = (("N", (1, 8)), ("M", (2, 5)))


def made(*steps, bounds=(), **sizes):
    """Lifetimes whose buffers are named `x` and so on; a pair is a size and a place."""
    buffers = (Buffer(name, *(size if isinstance(size, tuple) else (size,))) for name, size in sizes.items())
    return Lifetimes(steps, tuple(buffers), bounds)


def chain(**changes):
    """x → a → b, with some of it changed."""
    first = changes.pop("first", Step("first", ("x",), ("a",)))
    second = changes.pop("second", Step("second", ("a",), ("b",)))
    bounds = changes.pop("bounds", ())
    return made(first, second, bounds=bounds, **({"x": (64, "outside"), "a": 64, "b": (64, "result")} | changes))


def second(**changes):
    return Step(**({"name": "second", "reads": ("a",), "writes": ("b",)} | changes))


def test_a_buffer_lives_from_its_writer_to_its_last_reader_and_a_result_to_the_end():
    assert chain().lives == {"a": (0, 1), "b": (1, 2)}


def test_a_view_of_what_is_outside_is_outside():
    seen = chain(first=Step("first", ("x",), ("a",), (Share("view", "a", "x"),)))
    assert seen.lives == {"b": (1, 2)}


def test_steps_read_as_a_sheet(golden):
    shares = (Share("part", "c", "b"), Share("part", "c", "a", N * 4))
    steps = (
        Step("load", (), ("a",)),
        Step("relu", ("a",), ("b",), (Share("overwrite", "b", "a"),)),
        Step("cat", ("b", "a"), ("c",), shares),
        Step("show", ("c",), ("d",), (Share("view", "d", "c", N * -4),), ("load",)),
    )
    golden(str(made(*steps, bounds=BOUNDS, a=N * 4, b=N * 4, c=N * 8, d=(N * 4, "result"))))


WRONG = {
    "unknown-buffer": lambda: chain(second=second(reads=("aa",))),
    "unknown-place": lambda: chain(a=(64, "heap")),
    "unknown-sharing": lambda: chain(second=second(shares=(Share("alias", "b", "a"),))),  # type: ignore[arg-type]
    "unknown-step": lambda: chain(second=second(after=("frist",))),
    "unknown-size": lambda: chain(a=N),
    "after-a-later-one": lambda: chain(first=Step("first", ("x",), ("a",), (), ("second",))),
    "read-before-written": lambda: chain(first=Step("first", ("b",), ("a",))),
    "nobody-writes": lambda: chain(second=Step("second", (), ("b",)), first=Step("first", ("y",), ("a",)), y=64),
    "nobody-writes-or-reads": lambda: chain(y=64),
    "written-twice": lambda: chain(second=second(writes=("b", "a"))),
    "two-of-a-name": lambda: chain(second=second(name="first")),
    "negative": lambda: chain(a=-1),
    "negative-for-some-sizes": lambda: chain(a=N * 8 - 24, bounds=BOUNDS),
    "no-number": lambda: chain(a=2.5),
    "bounds-the-wrong-way": lambda: chain(a=N, bounds=(("N", (8, 1)),)),
    "sharing-with-another-step": lambda: chain(second=second(shares=(Share("overwrite", "b", "x"),))),
    "overwriting-from-the-middle": lambda: chain(second=second(shares=(Share("overwrite", "b", "a", 8),))),
    "a-part-that-does-not-fit": lambda: chain(second=second(shares=(Share("part", "b", "a", 8),))),
    "a-view-beyond-the-end": lambda: chain(second=second(shares=(Share("view", "b", "a", -8),))),
    "a-view-of-two": lambda: chain(
        second=second(reads=("a", "x"), shares=(Share("view", "b", "a"), Share("view", "b", "x")))
    ),
    "a-view-outside": lambda: chain(b=(64, "outside"), second=second(shares=(Share("view", "b", "a"),))),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_said(mistake, golden):
    with pytest.raises(WorkbenchError) as refused:
        WRONG[mistake]()
    golden(str(refused.value))


def test_an_order_that_dependences_forbid_is_refused():
    with pytest.raises(WorkbenchError, match="second reads a before it is written"):
        chain().reordered([1, 0])


HALF = atom(Binary("/", Size("N"), Const(2, Size("N").dtype), Size("N").dtype))


@pytest.mark.parametrize("size", [N * M * 4, N * 8 - M, HALF * M + 1, N * N - N * 3, atom(Size("M")) * -2 + 7])
def test_a_size_stays_within_its_span(size):
    low, high = byte_bounds(size, dict(BOUNDS))
    values = [at_sizes(size, {"N": n, "M": m}) for n in range(1, 9) for m in range(2, 6)]
    assert low <= min(values)
    assert max(values) <= high


def test_a_span_is_exact_where_every_name_occurs_once():
    assert byte_bounds(N * M * 4 + 3, dict(BOUNDS)) == (11, 163)
    assert at_sizes(HALF, {"N": 7}) == 3


def test_sizes_are_compared_for_all_values():
    assert never_above(N * 4, N * 4 + M, dict(BOUNDS))
    assert not never_above(N * 4, M * 4, dict(BOUNDS))
