"""What printed shape functions call: sizes from shapes, refused with the words of a call in Python.

The text of this file is written into what is exported, where it stands alone.  Sizes may be symbols of PyTorch.
"""

from typing import Any

largest, least = max, min


def quotient(a: Any, b: Any) -> Any:
    """`a / b` of the language: rounds towards minus infinity; 0 if b is 0."""
    return a // b if b else 0


def remainder(a: Any, b: Any) -> Any:
    """`a % b` of the language: has the sign of b; 0 if b is 0."""
    return a % b if b else 0


def root(op: str, size: str, extent: Any, found: Any) -> Any:
    """The size at which an extent that is linear in it is what was found; rounded down, the check comes later."""
    at_0 = extent(0)
    slope = extent(1) - at_0
    if slope == 0 or extent(2) - at_0 != 2 * slope:
        raise ValueError(f"{op}: no shape tells {size}")
    return (found - at_0) // slope


def check_rank(op: str, array: str, shape: Any, rank: int) -> None:
    """ValueError unless an array has so many dimensions."""
    if len(shape) != rank:
        plural = "" if rank == 1 else "s"
        found = f"{len(shape)} (shape {tuple(shape)})"
        raise ValueError(f"{op}: {array} expected a tensor with {rank} dimension{plural} but found {found}")


def check_same(op: str, size: str, origin: str, known: Any, here: str, found: Any) -> None:
    """ValueError unless two arrays agree on a size."""
    if known != found:
        raise ValueError(f"{op}: mismatched sizes for {size}: {size} = {known} from {origin}; {here} has {found}")


def check_extent(here: str, spelt: str, expected: Any, found: Any) -> None:
    """ValueError unless an array has the extent that sizes say."""
    if expected != found:
        raise ValueError(f"{here} expected {spelt} {expected} but found {found}")


def check_size(op: str, size: str, value: Any) -> None:
    """ValueError if a size is negative."""
    if value < 0:
        raise ValueError(f"{op}: the size {size} must not be negative, got {value}")


def check_condition(text: str, value: Any) -> None:
    """ValueError if a condition of the operator does not hold."""
    if not value:
        raise ValueError(text)
