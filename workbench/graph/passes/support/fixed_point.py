"""Operators between float numbers and integers, and between integers of different scales."""

from __future__ import annotations

from functools import cache

from workbench.lang.definitions import operator
from workbench.lang.operator import Operator

LIMIT = 127
"""Of int8, on both sides."""
LARGEST = 2**30
"""Of sums' shifts and multipliers."""


@cache
def quantiser(rank: int) -> Operator:
    """`q[...] = round(x[...] / s)` within -127 and 127, as int8."""
    here, cell = _axes_of(rank)
    value = f"int8(max(min(round(x{cell} / s), {LIMIT}.0), -{LIMIT}.0))"
    return operator(f"def quantise_{rank}d(float{here} x, float s) -> (q) {{ q{cell} = {value} }}")


@cache
def scaler(rank: int, axis: int | None) -> Operator:
    """`y[...] = s[i] · a[...]` along one axis of so many, or with one s for all."""
    here, cell = _axes_of(rank)
    declared, read = _along(axis)
    name = f"scale_{rank}d{_named(axis)}"
    return operator(
        f"def {name}(int32{here} a, float{declared} s) -> (y) {{ y{cell} = s{read} * float(a{cell}) }}"
    )


@cache
def requantiser(rank: int, axis: int | None, bits: int) -> Operator:
    """`q[...] = ((a[...] + b[i]) · m[i] + 2^(bits-1)) >> bits` within -127 and 127, as int8."""
    here, cell = _axes_of(rank)
    declared, read = _along(axis)
    value = _cut(f"(int64(a{cell}) + int64(b{read})) * int64(m{read})", bits)
    name = f"requantise_{rank}d{_named(axis)}_by_{bits}"
    head = f"def {name}(int32{here} a, int32{declared} b, int32{declared} m) -> (q)"
    return operator(f"{head} {{ q{cell} = {value} }}")


@cache
def added(rank: int, axes: tuple[int | None, ...], bits: int) -> Operator:
    """The same of a sum of two, each with shifts and multipliers of its own; int8 where these are one number."""
    here, cell = _axes_of(rank)
    terms, parameters = [], []
    for name, axis in zip("xy", axes, strict=True):
        declared, read = _along(axis)
        parameters.append(f"{'int8' if axis is None else 'int32'}{here} {name}")
        parameters += [f"int32{declared} b{name}", f"int32{declared} m{name}"]
        terms.append(f"(int64({name}{cell}) + int64(b{name}{read})) * int64(m{name}{read})")
    name = f"add_{rank}d{''.join(map(_named, axes))}_by_{bits}"
    return operator(f"def {name}({', '.join(parameters)}) -> (q) {{ q{cell} = {_cut(' + '.join(terms), bits)} }}")


def _cut(value: str, bits: int) -> str:
    half = f" + (int64(1) << {bits - 1})" if bits else ""
    return f"int8(max(min(({value}{half}) >> {bits}, int64({LIMIT})), -int64({LIMIT})))"


def _along(axis: int | None) -> tuple[str, str]:
    return ("", "") if axis is None else (f"(N{axis})", f"(i{axis})")


def _named(axis: int | None) -> str:
    return "" if axis is None else f"_axis_{axis}"


def _axes_of(rank: int) -> tuple[str, str]:
    sizes, every = ", ".join(f"N{at}" for at in range(rank)), ", ".join(f"i{at}" for at in range(rank))
    return (f"({sizes})", f"({every})") if rank else ("", "")
