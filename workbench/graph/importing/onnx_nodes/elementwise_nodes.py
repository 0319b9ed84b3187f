"""Nodes that work element by element: most are one line of the language."""

from __future__ import annotations

from functools import partial

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import GELU, TRUNCATED, cast, elementwise, literal
from workbench.lang.dtypes import BOOL, FLOAT32, DType

# Type of node → its definition over operands a, b, ...
SAME: dict[str, str] = {
    "Abs": "abs(a)", "Acos": "acos(a)", "Acosh": "acosh(a)", "Add": "a + b", "Asin": "asin(a)", "Asinh": "asinh(a)",
    "Atan": "atan(a)", "Atanh": "atanh(a)", "BitwiseAnd": "a & b", "BitwiseNot": "~a", "BitwiseOr": "a | b",
    "BitwiseXor": "a ^ b", "Ceil": "ceil(a)", "Cos": "cos(a)", "Cosh": "cosh(a)", "Erf": "erf(a)", "Exp": "exp(a)",
    "Floor": "floor(a)", "HardSwish": "a * max(0.0, min(1.0, a / 6.0 + 0.5))", "Log": "log(a)",
    "Mish": "a * tanh(max(a, 0.0) + log1p(exp(-abs(a))))", "Mul": "a * b", "Neg": "-a",
    "PRelu": "a < 0 ? a * b : a", "Reciprocal": "1.0 / a", "Relu": "max(a, 0)",
    "Round": "isinf(a) || isnan(a) ? a : a - remainder(a, 1.0)", "Sigmoid": "sigmoid(a)",
    "Sign": "sign(a)", "Sin": "sin(a)", "Sinh": "sinh(a)", "Softplus": "max(a, 0.0) + log1p(exp(-abs(a)))",
    "Softsign": "a / (1.0 + abs(a))", "Sqrt": "sqrt(a)", "Sub": "a - b", "Tan": "tan(a)", "Tanh": "tanh(a)",
}  # fmt: skip

# Type of node → its definition; the result is true or false.
TESTS: dict[str, str] = {
    "And": "a && b", "Equal": "a == b", "Greater": "a > b", "GreaterOrEqual": "a >= b", "IsNaN": "isnan(a)",
    "Less": "a < b", "LessOrEqual": "a <= b", "Not": "!a", "Or": "a || b", "Xor": "a != b",
}  # fmt: skip

# Type of node → its definition with attributes, and their defaults.
WITH_ATTRIBUTES: dict[str, tuple[str, dict[str, float]]] = {
    "Celu": ("max(0.0, a) + min(0.0, {alpha} * expm1(a / {alpha}))", {"alpha": 1.0}),
    "Elu": ("a < 0.0 ? {alpha} * expm1(a) : a", {"alpha": 1.0}),
    "HardSigmoid": ("max(0.0, min(1.0, {alpha} * a + {beta}))", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("a < 0.0 ? {alpha} * a : a", {"alpha": 0.01}),
    "Selu": (
        "a > 0.0 ? {gamma} * a : {gamma} * {alpha} * expm1(a)",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "Shrink": ("a < -{lambd} ? a + {bias} : a > {lambd} ? a - {bias} : 0", {"bias": 0.0, "lambd": 0.5}),
    "Swish": ("a * sigmoid({alpha} * a)", {"alpha": 1.0}),
    "ThresholdedRelu": ("a > {alpha} ? a : 0.0", {"alpha": 1.0}),
}


def _named(node_type: str) -> str:
    """The name of the operator for a type of node: `LeakyRelu` → `leaky_relu`."""
    found = "".join(f"_{each.lower()}" if each.isupper() else each for each in node_type).lstrip("_")
    return found.replace("p_relu", "prelu")


def _same(node: Node, expression: str) -> Value:
    return elementwise(node.g, _named(node.type), expression, *node.given())


def _test(node: Node, expression: str) -> Value:
    return elementwise(node.g, _named(node.type), expression, *node.given(), element=BOOL)


def _with_attributes(node: Node, expression: str, defaults: dict[str, float]) -> Value:
    of = node.input(0).element
    literals = {name: literal(node(name, default), of) for name, default in defaults.items()}
    return elementwise(node.g, _named(node.type), expression.format(**literals), node.input(0))


def divide(node: Node) -> Value:
    """Quotients; those of whole numbers are cut towards zero."""
    signed = node.input(0).element.kind == "int"
    return elementwise(node.g, "divide", TRUNCATED if signed else "a / b", node.input(0), node.input(1))


def modulo(node: Node) -> Value:
    """Remainders with the sign of the divisor, or with `fmod` of the dividend."""
    a, b = node.input(0), node.input(1)
    if a.element.is_float:
        if not node("fmod", 0):
            node.refuse("fmod=0 is for whole numbers")
        return elementwise(node.g, "fmod", "fmod(a, b)", a, b)
    if node("fmod", 0) and a.element.kind == "int":
        return elementwise(node.g, "remainder", f"a - ({TRUNCATED}) * b", a, b)
    return elementwise(node.g, "modulo", "a % b", a, b)


def power(node: Node) -> Value:
    """Powers; whole numbers through float64."""
    a, b = node.input(0), node.input(1)
    if a.element.is_float:
        exponent = "b" if b.element == a.element else f"{'float64' if a.element.bits == 64 else 'float32'}(b)"
        return elementwise(node.g, "pow", f"pow(a, {exponent})", a, b)
    return elementwise(node.g, "pow", f"{a.element.name}(pow(float64(a), float64(b)))", a, b)


def variadic(node: Node, sign: str, name: str) -> Value:
    """Any number of operands, one after another."""
    found = node.input(0)
    for other in node.given()[1:]:
        found = elementwise(node.g, name, sign, found, other)
    return found


def mean(node: Node) -> Value:
    """The mean of any number of operands."""
    return elementwise(node.g, "scale", f"a / {len(node.given())}.0", variadic(node, "a + b", "add"))


def clip(node: Node) -> Value:
    """Values between two ends, each of which may be left out."""
    found, low, high = node.input(0), node.optional(1), node.optional(2)
    if low is not None:
        found = elementwise(node.g, "at_least", "max(a, b)", found, low)
    return elementwise(node.g, "at_most", "min(a, b)", found, high) if high is not None else found


def is_inf(node: Node) -> Value:
    """Whether a value is infinite, of a sign that counts."""
    positive, negative = node("detect_positive", 1), node("detect_negative", 1)
    test = {(1, 1): "isinf(a)", (1, 0): "isinf(a) && a > 0", (0, 1): "isinf(a) && a < 0", (0, 0): "isinf(a) && false"}
    return elementwise(node.g, "is_inf", test[positive, negative], node.input(0), element=BOOL)


def shift(node: Node) -> Value:
    """Bits shifted to the left or right."""
    sign = "<<" if node("direction") == "LEFT" else ">>"
    return elementwise(node.g, "shift", f"a {sign} b", node.input(0), node.input(1))


def gelu(node: Node) -> Value:
    """The Gaussian error linear unit (Hendrycks and Gimpel, 2016)."""
    return elementwise(node.g, "gelu", GELU[node("approximate", "none")], node.input(0))


def converted(node: Node) -> Value:
    """Another element type."""
    return converted_to(node, node.input(0), node.element(node("to")))


def converted_to(node: Node, value: Value, to: DType) -> Value:
    """A conversion as ONNX has it."""
    if to.is_half and value.element.is_integral:
        return cast(node.g, cast(node.g, value, FLOAT32), to)
    return cast(node.g, value, to)


def select(node: Node) -> Value:
    """The second operand where the first is true, else the third."""
    return elementwise(
        node.g, "select", "a ? b : c", node.input(0), node.input(1), node.input(2), element=node.input(1).element
    )


WRITERS: dict[str, Writer] = {
    **{name: partial(_same, expression=text) for name, text in SAME.items()},
    **{name: partial(_test, expression=text) for name, text in TESTS.items()},
    **{
        name: partial(_with_attributes, expression=text, defaults=defaults)
        for name, (text, defaults) in WITH_ATTRIBUTES.items()
    },
    "BitShift": shift,
    "Cast": converted,
    "CastLike": lambda node: converted_to(node, node.input(0), node.input(1).element),
    "Clip": clip,
    "Div": divide,
    "Gelu": gelu,
    "Identity": lambda node: node.input(0),
    "IsInf": is_inf,
    "Max": partial(variadic, sign="max(a, b)", name="maximum"),
    "Mean": mean,
    "Min": partial(variadic, sign="min(a, b)", name="minimum"),
    "Mod": modulo,
    "Pow": power,
    "Sum": partial(variadic, sign="a + b", name="add"),
    "Where": select,
}
