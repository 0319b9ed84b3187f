"""`mixed_precision`: products of matrices and convolutions take 16-bit numbers, and sum in float32."""

from __future__ import annotations

from functools import cache

import numpy as np

from workbench.errors import ModelError, OperatorError, unknown_name
from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.models import Model
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.narrowed import narrowed
from workbench.graph.passes.support.products import sums_products, terms_of
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.types import TensorType, Type
from workbench.graph.terms.walking import with_operands
from workbench.lang.definitions import operator
from workbench.lang.dtypes import BFLOAT16, FLOAT16, FLOAT32, DType
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate
from workbench.records import record

# 16-bit type → its unit roundoff: half the distance from 1 to the next number.
ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
_ELEMENTS = {"bfloat16": BFLOAT16, "float16": FLOAT16}


@record
class MixedPrecision(ModelPass):
    """Sums of products take 16-bit arguments where their definitions then still sum in float32.

    before → after:  matmul(a, b)   →   matmul(bfloat16(a), bfloat16(b))

    The results stay float32, and so does everything else.  With u the unit roundoff (2⁻⁸ of bfloat16, 2⁻¹¹ of
    float16), such a call of up to d factors a term differs from the one before by at most ((1 + u)^d - 1) times its
    value for the absolute values of its arguments, apart from rounding in float32 (Higham, 2002); see `bound`.  That
    holds for numbers in the range of the type: of float16 from 6e-5 to 65504.
    """

    element: str

    def apply(self, model: Model) -> Model:
        types = model.typing.types
        return each_function(model, lambda function: _narrowed(function, types, self.element))

    def bound(self, op: Operator) -> float:
        """How much a call of an operator that takes narrower numbers differs, in units of its value for absolute ones.

        ModelError for an operator that is no sum of products.
        """
        found = terms_of(op)
        if found is None:
            raise ModelError(f"{op.name} is no sum of products of its arguments, and keeps its types")
        return (1 + ROUNDOFF[self.element]) ** max(map(len, found)) - 1

    def __str__(self) -> str:
        return f"mixed_precision({self.element!r})"


def mixed_precision(element: str = "bfloat16", /) -> MixedPrecision:
    """Matrix products and convolutions take numbers of a 16-bit type (bfloat16, float16), and sum in float32."""
    if element not in ROUNDOFF:
        raise ModelError(unknown_name("16-bit type", str(element), ROUNDOFF))
    return MixedPrecision(element)


def _narrowed(function: Function, types: dict[Term, Type], element: str) -> Function:
    narrow: dict[Term, Term] = {}

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        new = with_operands(node, inside)
        if not (isinstance(new, Call) and isinstance(new.function, Primitive)):
            return new
        assert isinstance(node, Call)
        op = narrow_form(new.function.operator, element)
        if op is None or not all(_is_float32(each, types) for each in node.arguments):
            return new
        for each in new.arguments:
            if each not in narrow:
                narrow[each] = _cast(each, op.tensors[inputs_of(op)[new.arguments.index(each)]].rank, element)
        return Call(Primitive(op), tuple(narrow[each] for each in new.arguments), new.sizes, new.label, new.span)

    return rewritten(function, change)


@cache
def narrow_form(op: Operator, element: str) -> Operator | None:
    """The operator that takes numbers of a narrower type and sums in float32, itself if its definition says so already.

    None if it is no sum of products.
    """
    if not sums_products(op) or any(op.tensors[name].dtype != FLOAT32 for name in inputs_of(op)):
        return None
    if op.generic:
        return op if _takes(op, element) else None
    return narrowed(op, tuple((name, element) for name in inputs_of(op)), "float")


def _takes(op: Operator, element: str) -> bool:
    if len(op.generic) != 1:
        return False
    try:
        made = instantiate(op, dict.fromkeys(op.generic, _ELEMENTS[element]))
    except OperatorError:
        return False
    if any(made.tensors[name].dtype != _ELEMENTS[element] for name in inputs_of(op)):
        return False
    summed = [made.tensors[s.targets[0].tensor].dtype for s in made.statements() if s.reduction]
    return all(each == FLOAT32 for each in (*summed, made.tensors[op.outputs[0]].dtype))


def _is_float32(term: Term, types: dict[Term, Type]) -> bool:
    of = types.get(term)
    return isinstance(of, TensorType) and of.element == FLOAT32


def _cast(term: Term, rank: int, element: str) -> Term:
    if isinstance(term, Constant):
        kind: DType = _ELEMENTS[element]
        return Constant(np.asarray(term.array.astype(kind.numpy)), term.span)
    return Call(Primitive(cast(rank, element)), (term,))


@cache
def cast(rank: int, element: str) -> Operator:
    """`y[...] = bfloat16(x[...])` for arrays of so many axes."""
    sizes, every = ", ".join(f"N{at}" for at in range(rank)), ", ".join(f"i{at}" for at in range(rank))
    here, cell = (f"({sizes})", f"({every})") if rank else ("", "")
    return operator(
        f"def to_{element}_{rank}d(float{here} x) -> ({element}{here} y) {{ y{cell} = {element}(x{cell}) }}"
    )
