"""`to_graph_form`: no `let` where order does not matter."""

from __future__ import annotations

from workbench.graph.models import Model
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.records import record


@record
class ToGraphForm(ModelPass):
    """Graph form: what is used twice is one node, and a `let` stays only where it says when something is computed.

    before → after:  let a = g(x); f(a, a)   →   %1 = g(x); f(%1, %1)
    """

    def apply(self, model: Model) -> Model:
        return model.graph_form()


def to_graph_form() -> ToGraphForm:
    """Graph form: no `let` where the order does not matter."""
    return ToGraphForm()
