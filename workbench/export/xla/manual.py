"""Calls inside `jax.shard_map`: along which axes of the mesh an array is another on each device is part of its type."""

from __future__ import annotations

from collections.abc import Sequence

import jax


def varying(arrays: Sequence[jax.Array]) -> frozenset[str]:
    """The axes along which one of the arrays varies."""
    return frozenset().union(*map(_own, arrays))


def made_varying(arrays: Sequence[jax.Array], axes: frozenset[str]) -> list[jax.Array]:
    """The arrays as such that vary along some axes; the gradient of one that did not is summed over the devices."""
    missing = [tuple(sorted(axes - _own(a))) for a in arrays]
    return [jax.lax.pcast(a, own, to="varying") if own else a for a, own in zip(arrays, missing, strict=True)]


def _own(array: jax.Array) -> frozenset[str]:
    return jax.typeof(array).manual_axis_type.varying
