"""Every operation of PyTorch that has a definition here."""

from __future__ import annotations

from difflib import get_close_matches

from workbench.graph.importing.torch_nodes import (
    elementwise_calls,
    filling_calls,
    layer_calls,
    lookup_calls,
    movement_calls,
    picture_calls,
    reduction_calls,
)
from workbench.graph.importing.torch_nodes.call import Writer

WRITERS: dict[str, Writer] = {
    **elementwise_calls.WRITERS,
    **filling_calls.WRITERS,
    **layer_calls.WRITERS,
    **lookup_calls.WRITERS,
    **movement_calls.WRITERS,
    **picture_calls.WRITERS,
    **reduction_calls.WRITERS,
}

RANDOM = {
    "bernoulli",
    "multinomial",
    "native_dropout",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "uniform",
}
SHAPED_BY_DATA = {"_unique2", "masked_select", "nonzero", "nonzero_static", "unique_dim", "_local_scalar_dense"}


def why_not(name: str) -> str:
    """Why an operation has no definition."""
    if name in RANDOM:
        return "its result is random; the workbench's operators are functions (call .eval() if this is dropout)"
    if name in SHAPED_BY_DATA:
        return "the shape of its result, or the program, depends on data"
    close = get_close_matches(name, WRITERS, n=3, cutoff=0.6)
    near = f"; near it: {', '.join(close)}" if close else ""
    return f"this operation has no definition among the {len(WRITERS)} here{near}"
