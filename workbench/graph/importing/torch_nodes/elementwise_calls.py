"""Operations that work element by element: most are one line of the language."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import GELU, TRUNCATED, cast, elementwise, expand, literal
from workbench.graph.terms.dimensions import Dimension
from workbench.lang.dtypes import BOOL, DType

# Name → its definition over the operand a; whole numbers are floats where the result is.
UNARY: dict[str, str] = {
    **{
        name: f"{name}(a)"
        for name in (
            "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2",
            "expm1", "floor", "log", "log10", "log1p", "log2", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
            "tan", "tanh", "trunc", "abs", "lgamma", "erfinv",
        )
    },
    "bitwise_not": "~a",
    "hardswish": "a * max(0.0, min(1.0, a / 6.0 + 0.5))",
    "hardsigmoid": "max(0.0, min(1.0, a / 6.0 + 0.5))",
    "log_sigmoid_forward": "min(a, 0.0) - log1p(exp(-abs(a)))",
    "mish": "a * tanh(max(a, 0.0) + log1p(exp(-abs(a))))",
    "neg": "-a",
    "reciprocal": "1.0 / a",
    "relu": "max(a, 0)",
    "round": "isinf(a) || isnan(a) ? a : a - remainder(a, 1.0)",
    "silu": "a * sigmoid(a)",
    "square": "a * a",
}  # fmt: skip
# Name → its definition over operands a and b, which are first converted to the result's type.
BINARY: dict[str, str] = {
    "atan2": "atan2(a, b)",
    "bitwise_and": "a & b",
    "bitwise_or": "a | b",
    "bitwise_xor": "a ^ b",
    "copysign": "copysign(a, b)",
    "fmax": "fmax(a, b)",
    "fmin": "fmin(a, b)",
    "fmod": "fmod(a, b)",
    "hypot": "hypot(a, b)",
    "maximum": "max(a, b)",
    "minimum": "min(a, b)",
    "mul": "a * b",
}
# Name → its definition; the result is true or false, whatever the operands are.
TESTS: dict[str, str] = {"eq": "a == b", "ge": "a >= b", "gt": "a > b", "le": "a <= b", "lt": "a < b", "ne": "a != b"}
LOGIC: dict[str, str] = {"logical_and": "a && b", "logical_or": "a || b", "logical_xor": "a != b"}


def typed(call: Call, name: str, expression: str, *operands: Any, element: DType | None = None) -> Value:
    """An expression over operands that are first converted to the result's type; numbers are written as such."""
    of = element or call.element
    inner = "float32" if of.is_half else of.name
    tensors, texts = [], {}
    for letter, operand in zip("abcdefgh", operands, strict=False):
        if isinstance(operand, Value | Dimension):
            value = call.tensor(operand)
            texts[letter] = chr(ord("a") + len(tensors))
            if value.element != of:
                texts[letter] = f"{inner}({texts[letter]})" if of != BOOL else f"({texts[letter]} != 0)"
            tensors.append(value)
        else:
            texts[letter] = literal(operand, of) if of != BOOL else str(bool(operand)).lower()
    text = re.sub(r"\b[a-h]\b", lambda found: texts.get(found[0], found[0]), expression)
    if not tensors:
        tensors = [call.tensor(operands[0], of)]
        text = re.sub(re.escape(texts["a"]), "a", text, count=1)
    return elementwise(call.g, name, text, *tensors, element=of)


def unary(call: Call, expression: str) -> Value:
    """One line over one operand; whole numbers are rounded already."""
    if call.element == BOOL and call.name == "bitwise_not":
        return elementwise(call.g, "logical_not", "!a", call.value("self"), element=BOOL)
    if (
        call.value("self").element == call.element
        and not call.element.is_float
        and call.name in ("ceil", "floor", "round", "trunc")
    ):
        return call.value("self")
    return typed(call, call.name, expression, call("self"))


def binary(call: Call, expression: str) -> Value:
    """One line over two operands, in the type of the result."""
    a, b = call("self"), call("other")
    if call.element == BOOL and call.name == "mul":
        expression = "a && b"
    if call.name == "fmod" and not call.element.is_float:
        expression = f"a - ({TRUNCATED}) * b"
    return typed(call, call.name, expression, a, b)


def test(call: Call, expression: str) -> Value:
    """A comparison, in the type that both operands have together."""
    a, b = call("self"), call("other")
    of = together(call, a, b)
    if of == BOOL and "==" not in expression and "!=" not in expression:
        expression = expression.replace("a", "int8(a)").replace("b", "int8(b)")
    if isinstance(b, Value | Dimension):
        left, right = (cast(call.g, call.tensor(each), of) for each in (a, b))
        return elementwise(call.g, call.name, expression, left, right, element=BOOL)
    number = str(bool(b)).lower() if of == BOOL else literal(b, of)
    text = re.sub(r"\bb\b", number, expression)
    return elementwise(call.g, f"{call.name}_number", text, cast(call.g, call.value("self"), of), element=BOOL)


def together(call: Call, a: Any, b: Any) -> DType:
    """The type in which two operands are compared, by PyTorch's rules."""
    import torch

    def sample(of: Any) -> Any:
        if isinstance(of, Value):
            return torch.empty((1,) * min(of.rank, 1), dtype=getattr(torch, of.element.name))
        return 1 if isinstance(of, Dimension) else of

    return call.element_of(torch.result_type(sample(a), sample(b)))


def logic(call: Call, expression: str) -> Value:
    """Truth of two operands, each of which is true where it is not 0."""
    a, b = (truth(call, call.value(name)) for name in ("self", "other"))
    return elementwise(call.g, call.name, expression, a, b, element=BOOL)


def truth(call: Call, value: Value) -> Value:
    """Whether elements are different from 0."""
    return cast(call.g, value, BOOL)


def add(call: Call, sign: str) -> Value:
    """`a ± alpha · b`."""
    alpha = call("alpha", 1)
    a, b = call("self"), call("other")
    if call.name == "rsub":
        a, b = b, a
    if call.element == BOOL:
        return typed(call, "logical_or", "a || b", a, b)
    if alpha == 1:
        return typed(call, "add" if sign == "+" else "subtract", f"a {sign} b", a, b)
    return typed(call, "add_scaled" if sign == "+" else "subtract_scaled", f"a {sign} c * b", a, b, alpha)


def divide(call: Call) -> Value:
    """Quotients; with a rounding mode cut towards zero or rounded down."""
    a, b, mode = call("self"), call("other"), call("rounding_mode")
    whole = not call.element.is_float
    if mode == "floor":
        return typed(call, "floor_divide", "a / b" if whole else "floor(a / b)", a, b)
    if mode == "trunc":
        return typed(call, "truncated_divide", TRUNCATED if whole else "trunc(a / b)", a, b)
    return typed(call, "divide", "a / b", a, b)


def remainder(call: Call) -> Value:
    """The remainder with the sign of the divisor."""
    text = "a - floor(a / b) * b" if call.element.is_float else "a % b"
    return typed(call, "modulo", text, call("self"), call("other"))


def power(call: Call) -> Value:
    """Powers; squares, cubes and roots as such."""
    base, exponent = call("self"), call("exponent")
    if isinstance(exponent, int | float):
        if exponent in (2, 3):
            return typed(call, "square" if exponent == 2 else "cube", " * ".join("a" * int(exponent)), base)
        if exponent == 0.5:
            return typed(call, "sqrt", "sqrt(a)", base)
    if not call.element.is_float:
        of = call.element.name
        return elementwise(
            call.g,
            "integer_pow",
            f"{of}(pow(float64(a), float64(b)))",
            *(cast(call.g, call.tensor(each), call.element) for each in (base, exponent)),
        )
    return typed(call, "pow", "pow(a, b)", base, exponent)


def clamp(call: Call) -> Value:
    """Values between two ends, each a number or a tensor, and each of which may be left out."""
    low, high = call("min", call("min_val")), call("max", call("max_val"))
    found = call.value("self")
    if low is not None:
        found = typed(call, "at_least", "max(a, b)", found, low)
    return typed(call, "at_most", "min(a, b)", found, high) if high is not None else found


def leaky(call: Call) -> Value:
    """A slope of its own below 0."""
    return typed(call, "leaky_relu", "a < 0.0 ? b * a : a", call("self"), call("negative_slope", 0.01))


def elu(call: Call) -> Value:
    """The exponential linear unit, with its three factors."""
    alpha, scale, inner = call("alpha", 1), call("scale", 1), call("input_scale", 1)
    return typed(call, "elu", "a > 0.0 ? c * a : c * b * expm1(d * a)", call("self"), alpha, scale, inner)


def softplus(call: Call) -> Value:
    """`log(1 + exp(beta · a)) / beta`, without overflow; the operand itself beyond a threshold."""
    beta, threshold = call("beta", 1), call("threshold", 20)
    text = "a * b > c ? a : (max(a * b, 0.0) + log1p(exp(-abs(a * b)))) / b"
    return typed(call, "softplus", text, call("self"), beta, threshold)


def gelu(call: Call) -> Value:
    """The Gaussian error linear unit."""
    return typed(call, "gelu", GELU[call("approximate", "none")], call("self"))


def select(call: Call) -> Value:
    """`condition ? a : b`, in the type that both have together."""
    condition, of = truth(call, call.value("condition")), call.element
    a, b = (cast(call.g, call.tensor(call(name), None), of) for name in ("self", "other"))
    return elementwise(call.g, "select", "a ? b : c", condition, a, b, element=of)


def masked_fill(call: Call) -> Value:
    """A number where a mask is true."""
    x, fill = call.value("self"), call("value")
    other = cast(call.g, fill, x.element) if isinstance(fill, Value) else call.tensor(fill, x.element)
    return elementwise(call.g, "select", "a ? b : c", call.value("mask"), other, x, element=x.element)


def converted(call: Call) -> Value:
    """Another element type; the device is left as it is."""
    value = call.value("self")
    return cast(call.g, value, call.element)


def same_as(call: Call) -> Value:
    """The operand: what a copy, an alias or a dropout at inference is."""
    return call.value("self")


def nothing(call: Call) -> None:
    """What PyTorch only checks."""


def lerp(call: Call) -> Value:
    """Between two tensors, by a weight."""
    return typed(call, "lerp", "a + c * (b - a)", call("self"), call("end"), call("weight"))


def multiply_add(call: Call, sign: str) -> Value:
    """A tensor plus a factor times the product or quotient of two others."""
    text = f"a + d * (b {sign} c)"
    return typed(
        call,
        "addcmul" if sign == "*" else "addcdiv",
        text,
        call("self"),
        call("tensor1"),
        call("tensor2"),
        call("value", 1),
    )


WRITERS: dict[str, Writer] = {
    **{name: partial(unary, expression=text) for name, text in UNARY.items()},
    **{name: partial(binary, expression=text) for name, text in BINARY.items()},
    **{name: partial(test, expression=text) for name, text in TESTS.items()},
    **{name: partial(logic, expression=text) for name, text in LOGIC.items()},
    **{name: same_as for name in ("alias", "clone", "contiguous", "detach", "lift_fresh_copy", "lift", "dropout")},
    **{name: nothing for name in ("_assert_async", "_assert_scalar", "_assert_tensor_metadata", "sym_constrain_range")},
    "_to_copy": converted,
    "to": converted,
    "add": partial(add, sign="+"),
    "addcdiv": partial(multiply_add, sign="/"),
    "addcmul": partial(multiply_add, sign="*"),
    "clamp": clamp,
    "clamp_max": clamp,
    "clamp_min": clamp,
    "copy": lambda call: expand(call.g, cast(call.g, call.value("src"), call.element), call.value("self").dims),
    "div": divide,
    "elu": elu,
    "gelu": gelu,
    "hardtanh": clamp,
    "isinf": lambda call: elementwise(call.g, "is_inf", "isinf(a)", call.value("self"), element=BOOL),
    "isnan": lambda call: elementwise(call.g, "is_nan", "isnan(a)", call.value("self"), element=BOOL),
    "leaky_relu": leaky,
    "lerp": lerp,
    "logical_not": lambda call: elementwise(call.g, "logical_not", "!a", truth(call, call.value("self")), element=BOOL),
    "masked_fill": masked_fill,
    "pow": power,
    "prelu": lambda call: typed(call, "prelu", "a < 0.0 ? b * a : a", call("self"), call("weight")),
    "remainder": remainder,
    "rsub": partial(add, sign="-"),
    "softplus": softplus,
    "sub": partial(add, sign="-"),
    "where": select,
}
