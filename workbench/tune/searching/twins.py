"""Twins: points that give one and the same schedule, as where the recipe falls back to what fits."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.schedules.sketches.space import Space

Index = tuple[int, ...]


class _Question:
    """A decision that is asked after some answers, and what follows each answer; or the schedule's key."""

    __slots__ = ("decision", "key", "ways")

    def __init__(self) -> None:
        self.key = ""
        self.decision = -1
        self.ways: dict[int, _Question] = {}


class Twins:
    """Keys of the schedules of points, as far as they are known: those of points that were looked at, and of points
    that would be asked the same questions and answer alike.

    Points are given as `Space.index` does.  What is asked next depends on nothing but the answers before, so that the
    questions are a tree.
    """

    def __init__(self, space: Space) -> None:
        self._places = {d.name: n for n, d in enumerate(space.decisions)}
        self._first = _Question()
        self._exact: dict[Index, str] = {}

    def note(self, index: Index, key: str, follows: Sequence[str] = ()) -> None:
        """A point's key, and the decisions that its schedule follows from in their order, if they are known."""
        self._exact[index] = key
        question = self._first
        for name in follows:
            question.decision = self._places[name]
            question = question.ways.setdefault(index[question.decision], _Question())
        if follows:
            question.key = key

    def key(self, index: Index) -> str:
        """The key of a point's schedule; "" where it is not known."""
        if index in self._exact:
            return self._exact[index]
        question: _Question | None = self._first
        while question is not None and question.decision >= 0:
            question = question.ways.get(index[question.decision])
        return "" if question is None else question.key
