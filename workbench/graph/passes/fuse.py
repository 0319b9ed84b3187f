"""`fuse`: groups of calls become one call each."""

from __future__ import annotations

from workbench.graph.fusion.fusing import Rule, fused
from workbench.graph.models import Model
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.records import record


@record
class Fuse(ModelPass):
    """Calls whose values need not go through memory become one call, of an operator made of theirs.

    before → after:  relu(bias(matmul(a, b), c))   →   fused_matmul_bias_relu(a, b, c)

    What the groups are, `wb.graph.fused(model)` tells; why no more is in them, its `cuts` and the `remarks` of the
    pass in a model's trace.
    """

    rule: Rule = "legality"

    def apply(self, model: Model) -> Model:
        found = fused(model, rule=self.rule)
        return found.model if found.groups else model

    def remarks(self, before: Model) -> tuple[str, ...]:
        """Why calls that follow one another stayed apart."""
        return tuple(map(str, fused(before, rule=self.rule).cuts))


def fuse(*, rule: Rule = "legality") -> Fuse:
    """Groups of calls become one call each, by `rule`: "legality", or "relay" for the groups of Relay."""
    return Fuse(rule)
