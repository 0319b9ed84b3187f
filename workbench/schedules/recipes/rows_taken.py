"""What rows of recipes made of schedules of late, by the decisions that they asked for.

A tuner derives many schedules that begin alike.  A row is a pure function of a schedule, of what it takes, and of the
answers to its questions; which it asks next depends on nothing but the answers before.  So its results are the leaves
of a tree of questions, and a path that was gone before is gone again without the row: the questions are asked, so that
whoever listens hears them, and the answers lead to the schedule.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from workbench.schedules.recipes.decisions import Deciding, listener, listening
from workbench.schedules.scheduled_program import Schedule

MOST = 1024
"""Results that are remembered; then all are forgotten, and what is asked for again is soon there again."""

SAME, UNKNOWN = object(), object()
"""The result of a row that changes nothing, and of one that was not there yet."""

Question = tuple[str, Any, tuple[Any, ...], bool]
"""A decision's name, its default, its options, and whether it opens others."""


class _Node:
    """A question and what follows each answer, or a result."""

    __slots__ = ("question", "result", "ways")

    def __init__(self) -> None:
        self.question: Question | None = None
        self.result: Any = UNKNOWN
        self.ways: dict[tuple[type, Any], _Node] = {}


class _Noting(Deciding):
    """Passes questions on, and notes them with their answers."""

    def __init__(self, others: Deciding) -> None:
        super().__init__({})
        self.others = others
        self.noted: list[tuple[Question, Any]] = []

    def decide(self, name: str, default: Any, options: Iterable[Any], *, opens: bool) -> Any:
        question = name, default, tuple(options), opens
        answer = self.others.decide(name, default, question[2], opens=opens)
        self.noted.append((question, answer))
        return answer


class Remembered:
    """Results of rows, as trees of questions."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.count = most, 0
        self.found: dict[Any, tuple[Schedule, _Node]] = {}
        self.lock = threading.Lock()

    def __call__(self, name: str, row: Callable[..., Any], schedule: Schedule, given: tuple[Any, ...]) -> Any:
        """What a row makes of a schedule; remembered where somebody listens to its decisions."""
        others = listener()
        if others is None:
            return row(schedule, *given)
        key = (name, id(schedule.program), schedule.tree, *map(_hashable, given))
        root = self._root(key, schedule)
        known = None if root is None else _followed(root, others)
        if known is not None:
            return schedule if known.result is SAME else known.result
        noting = _Noting(others)
        with listening(noting):
            result = row(schedule, *given)
        self._note(key, schedule, noting.noted, SAME if result is schedule else result)
        return result

    def _root(self, key: Any, schedule: Schedule) -> _Node | None:
        """The first question of a row about this schedule, if the row was there before."""
        with self.lock:
            before, root = self.found.get(key, (None, None))
            if before is None or before.program is not schedule.program or before.trace != schedule.trace:
                return None
            return root

    def _note(self, key: Any, schedule: Schedule, noted: list[tuple[Question, Any]], result: Any) -> None:
        with self.lock:
            if self.count >= self.most:
                self.found, self.count = {}, 0
            self.count += 1
            before, node = self.found.get(key, (schedule, _Node()))
            if before.program is not schedule.program or before.trace != schedule.trace:
                before, node = schedule, _Node()
            self.found[key] = before, node
            for question, answer in noted:
                node.question = question
                node = node.ways.setdefault((type(answer), answer), _Node())
            node.result = result


def _followed(node: _Node, others: Deciding) -> _Node | None:
    """The end of the path that the answers lead to; None where nobody went it before."""
    found: _Node | None = node
    while found is not None and found.question is not None:
        name, default, options, opens = found.question
        answer = others.decide(name, default, options, opens=opens)
        found = found.ways.get((type(answer), answer))
    return found if found is not None and found.result is not UNKNOWN else None


def _hashable(value: Any) -> Any:
    return frozenset(value) if isinstance(value, set) else value


remembered = Remembered()
