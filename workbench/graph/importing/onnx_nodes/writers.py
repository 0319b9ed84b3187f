"""Every type of node that has a definition here."""

from __future__ import annotations

from workbench.graph.importing.onnx_nodes import (
    control_nodes,
    elementwise_nodes,
    layer_nodes,
    lookup_nodes,
    movement_nodes,
    quantised_nodes,
    recurrent_nodes,
    reduction_nodes,
    resampling_nodes,
    shape_nodes,
    window_nodes,
)
from workbench.graph.importing.onnx_nodes.node import Writer

WRITERS: dict[str, Writer] = {
    **elementwise_nodes.WRITERS,
    **layer_nodes.WRITERS,
    **lookup_nodes.WRITERS,
    **movement_nodes.WRITERS,
    **quantised_nodes.WRITERS,
    **recurrent_nodes.WRITERS,
    **reduction_nodes.WRITERS,
    **resampling_nodes.WRITERS,
    **shape_nodes.WRITERS,
    **window_nodes.WRITERS,
}
CONTROL: dict[str, Writer] = control_nodes.WRITERS

# Type of node → what its result's shape depends on.
SHAPED_BY_DATA: dict[str, str] = {
    "Compress": "how many conditions are true",
    "NonMaxSuppression": "how many boxes are selected",
    "NonZero": "how many elements are not 0",
    "Unique": "how many elements are different",
}
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
