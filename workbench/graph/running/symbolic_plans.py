"""The buffers of a model at all sizes within bounds: what is recorded at some sizes, with sizes from its types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt
from typing import TYPE_CHECKING

from workbench.errors import CallError, ModelError, shown, unknown_name
from workbench.graph.fusion.footprints import bytes_of
from workbench.graph.memory import Buffer, Lifetimes, Step
from workbench.graph.memory.byte_counts import Bytes, Span
from workbench.graph.passes.inline import inline
from workbench.graph.running.memory_plans import Storage
from workbench.graph.running.recording.recordings import Nested, Recording, Value, flat
from workbench.graph.running.specimens import recording_with_terms
from workbench.graph.terms.nodes import Term
from workbench.graph.terms.types import TensorType, TupleType, Type

if TYPE_CHECKING:
    from workbench.graph.models import Model


def lifetimes_within(model: Model, bounds: Mapping[str, Span]) -> Lifetimes:
    """The calls of a model as steps over buffers whose bytes are polynomials of its dimensions.

    The calls are recorded at the ends of the bounds and between them.  What shares bytes shares them at each of these
    sizes.  ModelError for a model with control flow, or one whose calls are others at other sizes; CallError for bounds
    that are none, or are missing.
    """
    flat = inline().apply(model)
    _check(flat, bounds)
    records = [recording_with_terms(flat, sizes) for sizes in _samples(bounds)]
    each = [Storage(recording).lifetimes("result") for recording, _ in records]
    first, terms = records[0]
    sizes = {value.name: size for term, nested in terms.items() for value, size in _sizes(flat, term, nested)}
    steps = tuple(_common(steps) for steps in zip(*(one.steps for one in each), strict=True)) if _alike(each) else ()
    if not steps:
        raise ModelError(f"{model.entry} makes other calls at other sizes: give sizes= instead of bounds=")
    results = _results(first, steps)
    buffers = tuple(_buffer(b, sizes.get(b.name, b.size), results) for b in each[0].buffers)
    missing = [c.name for c in first.calls for v in c.results if v.name not in sizes]
    if missing:
        raise ModelError(f"{model.entry}: the size of what {missing[0]} gives is not known for all sizes")
    return Lifetimes(steps, buffers, tuple(sorted(bounds.items())))


def _samples(bounds: Mapping[str, Span]) -> list[dict[str, int]]:
    """The greatest sizes, the least but 0, and two between them, of which one is odd."""
    most = {name: high for name, (_, high) in bounds.items()}
    least = {name: min(max(low, 1), high) for name, (low, high) in bounds.items()}
    middle = {name: isqrt(max(least[name], 1) * high) for name, (_, high) in bounds.items()}
    odd = {name: min((value | 1) + 2 * at, most[name]) for at, (name, value) in enumerate(middle.items())}
    found = [most, least, middle, odd]
    return [one for at, one in enumerate(found) if one not in found[:at]]


def _check(model: Model, bounds: Mapping[str, Span]) -> None:
    names = [each.name for each in model.scheme_of(model.entry).variables if each.kind == "dimension"]
    for name, span in bounds.items():
        if name not in names:
            raise CallError(f"{model.entry}: {unknown_name('dimension', name, names)}")
        whole = isinstance(span, tuple) and len(span) == 2 and all(isinstance(each, int) for each in span)
        if not whole or not 0 <= span[0] <= span[1]:
            expected = "expected its least and its greatest size, as in (1, 64)"
            raise CallError(f"bounds: {name} has {shown(span)}; {expected}")
    if missing := [name for name in names if name not in bounds]:
        raise CallError(f"{model.entry}: {missing[0]} has no bounds; give them: bounds=dict({missing[0]}=(1, 64))")


def _sizes(model: Model, term: Term, nested: Nested) -> Iterator[tuple[Value, Bytes]]:
    """The bytes of the tensors that a term is, by its type."""
    of = model.typing.types.get(term)
    if of is not None:
        yield from _of_type(of, nested)


def _of_type(of: Type, nested: Nested) -> Iterator[tuple[Value, Bytes]]:
    match of:
        case TupleType(items) if isinstance(nested, tuple):
            for item, inner in zip(items, nested, strict=True):
                yield from _of_type(item, inner)
        case TensorType() if isinstance(nested, Value) and nested.array is None:
            yield nested, bytes_of(of)


def _results(recording: Recording, steps: tuple[Step, ...]) -> set[str]:
    """Whose bytes are asked for: what an output is a view of at all sizes, or it itself."""
    source = {share.output: share.input for step in steps for share in step.sharing("view")}
    found = {value.name for value in flat(recording.outputs)}
    while moved := found & source.keys():
        found = found - moved | {source[name] for name in moved}
    return found


def _buffer(of: Buffer, size: Bytes, results: set[str]) -> Buffer:
    return Buffer(of.name, size, of.place if of.place == "outside" else "result" if of.name in results else "temporary")


def _alike(each: list[Lifetimes]) -> bool:
    """Whether the same steps read and write the same buffers."""
    shapes = {tuple((s.name, s.reads, s.writes) for s in one.steps) for one in each}
    return len(shapes) == 1


def _common(steps: tuple[Step, ...]) -> Step:
    """The step with what it may share at each of the sizes."""
    first, *others = steps
    shares = tuple(share for share in first.shares if all(share in other.shares for other in others))
    return Step(first.name, first.reads, first.writes, shares, first.after)
