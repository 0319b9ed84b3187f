"""`to_anf`: a `let` for every node."""

from __future__ import annotations

from workbench.graph.models import Model
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.records import record


@record
class ToAnf(ModelPass):
    """A-normal form (Flanagan et al., 1993): every node has a `let`, in the order in which they are computed.

    before → after:  f(g(x))   →   let a = g(x); let b = f(a); b
    """

    def apply(self, model: Model) -> Model:
        return model.a_normal_form()


def to_anf() -> ToAnf:
    """A-normal form: every node has a `let`."""
    return ToAnf()
