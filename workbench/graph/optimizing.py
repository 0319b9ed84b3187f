"""`wb.optimize`: the default line of passes."""

from __future__ import annotations

from inspect import signature

from workbench.errors import ModelError, shown
from workbench.graph.models import Model
from workbench.graph.passes.support.effects import CELLS
from workbench.graph.passes.support.model_pass import ModelPass, PassLine, line
from workbench.graph.passes.support.vocabulary import passes
from workbench.graph.terms.nodes import Function, Global, If, Let, Match
from workbench.graph.terms.walking import postorder
from workbench.target import Target

# Name of a pass → why it stands in the line, and where.  A pass whose file is not there is left out.
LINE: dict[str, str] = {
    "to_graph_form": "what is used twice is one node, which the others look for",
    "partial_evaluate": "control flow that is known vanishes, so that calls meet; only where there is any",
    "fold_constants": "weights are what they are made of",
    "simplify_inference": "normalisations go into the weights before them",
    "common_subexpressions": "what is computed twice is computed once",
    "channels_last": "windows over pictures have their filters in full registers; only for processors",
    "fuse": "groups of calls become one program each",
    "dead_code": "what the others left over goes",
}


def optimize(model: Model, /, target: str | Target = "c") -> Model:
    """The model after the default line of passes for a target; `history` says what each of them did.

    `default_line(model)` is that line; others are `model | wb.passes.inline() | ...`.
    """
    if not isinstance(model, Model):
        raise ModelError(f"optimize takes a model, as wb.model(text) makes it, not {shown(model)}")
    return model | default_line(model, target)


def default_line(model: Model, /, target: str | Target = "c") -> PassLine:
    """The passes of `optimize` for a model, in order."""
    left_out = set() if _has_control_flow(model) else {"partial_evaluate"}
    if _dialect(target) != "c":
        left_out.add("channels_last")
    return line(*(_made(name, target) for name in LINE if name in passes and name not in left_out))


def _made(name: str, target: str | Target) -> ModelPass:
    """A pass, for the target if it asks for one."""
    make = getattr(passes, name)
    return make(target=target) if "target" in signature(make).parameters else make()


def _dialect(target: str | Target) -> str:
    return target.dialect if isinstance(target, Target) else target


def _has_control_flow(model: Model) -> bool:
    """Whether there is anything but calls of operators."""
    flow = (*CELLS, If, Match, Let, Global)
    bodies = set(model.functions.values())
    for node in postorder(*bodies):
        if isinstance(node, flow) or (isinstance(node, Function) and node not in bodies):
            return True
    return False
