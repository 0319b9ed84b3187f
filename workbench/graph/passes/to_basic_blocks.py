"""`to_basic_blocks`: a `let` for what several scopes share."""

from __future__ import annotations

from workbench.graph.models import Model
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.records import record


@record
class ToBasicBlocks(ModelPass):
    """Basic-block form: what several scopes share has a `let` in the smallest scope that covers its uses.

    before → after:  if c { f(%1) } else { g(%1) }   →   let a = %1; if c { f(a) } else { g(a) }
    """

    def apply(self, model: Model) -> Model:
        return model.basic_block_form()


def to_basic_blocks() -> ToBasicBlocks:
    """Basic-block form: a `let` for what several scopes share."""
    return ToBasicBlocks()
