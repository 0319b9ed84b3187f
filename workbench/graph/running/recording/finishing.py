"""What makes the outputs of a run of its inputs, its results and the constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.graph.running.recording.recordings import Array, Value

Finish = Callable[[list[Array], list[Array]], list[Array]]
"""`(inputs, results) -> outputs`, no two of which share memory."""


def finisher(
    outputs: Sequence[tuple[int, Value]], inputs: int, results: int, constants: Mapping[int, Array | None]
) -> tuple[Finish, bool]:
    """How outputs come of so many inputs and results, which are numbered in this order and then the constants.

    Each output has the number of what holds its cells.  Also whether no input is needed for any.
    """
    ways: list[tuple[bool, int, Value]] = []
    for at, value in outputs:
        is_own = inputs <= at < inputs + results and all(at != other for _, other, _ in ways)
        ways.append((is_own, at, value))

    def finish(given: list[Array], made: list[Array]) -> list[Array]:
        found = []
        for is_own, at, value in ways:
            array = constants.get(at)
            if array is None:
                array = given[at] if at < inputs else made[at - inputs]
            found.append(array.reshape(value.shape) if is_own else array.reshape(value.shape).copy())
        return found

    return finish, all(at >= inputs for _, at, _ in ways)
