"""Looks a function up for an element type and writes it, with what it calls."""

from __future__ import annotations

from functools import cache

from workbench.codegen.cmath import primitive
from workbench.codegen.cmath.functions import elementary, integer
from workbench.codegen.cmath.helper import Helper
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, definition, halves, type_helpers
from workbench.errors import CodegenError, unknown_name
from workbench.lang.dtypes import BFLOAT16, FLOAT16, FLOAT32, DType

REGISTER_BYTES = 16
# What nearly every kernel asks for; the mathematics is loaded with the first function that is not among these.
PLAIN = primitive.PRIMITIVES | elementary.RECIPES
SIGNED = elementary.INTEGER_RECIPES | elementary.SIGNED_RECIPES | integer.SIGNED_RECIPES
UNSIGNED = elementary.INTEGER_RECIPES | elementary.UNSIGNED_RECIPES | integer.UNSIGNED_RECIPES


def recipes(dtype: DType) -> dict[str, Recipe]:
    """The functions of an element type, helpers of helpers included."""
    if not dtype.is_float:
        return SIGNED if dtype.kind == "int" else UNSIGNED
    from workbench.codegen.cmath.families import DOUBLE, SINGLE

    return DOUBLE if dtype.bits == 64 else SINGLE


def recipe_of(function: str, dtype: DType) -> Recipe | None:
    """How a function is written for an element type, if it is known."""
    if dtype.is_float and function in PLAIN:
        return PLAIN[function]
    return recipes(dtype).get(function)


def scalar(function: str, dtype: DType) -> Helper:
    """The C function of a builtin on one element: `wb_exp_f32`.

    `dtype` is that of the arguments; 16-bit floats are computed as float32.  Besides the builtins of the
    language: `floordiv`, `mod`, `shl`, `shr` (the language's operators) and `select`.

    >>> from workbench.lang.dtypes import INT32
    >>> print(scalar("floordiv", INT32).name)
    wb_floordiv_i32
    """
    return _function(function, Shape(FLOAT32 if dtype.is_half else dtype), 0)


def vector(function: str, dtype: DType, lanes: int, *, register_bytes: int = 0) -> Helper | None:
    """The C function on a vector, or None where there is only the scalar one.

    The text holds one variant for vectors that fit a register and one that splits them, chosen by the
    compiler's flags; with `register_bytes` (64 for AVX-512, 32 for AVX2, 16) only the one for that machine.

    >>> vector("exp", FLOAT32, 8).name
    'wb_exp_v8f32'
    >>> vector("erfinv", FLOAT32, 8) is None
    True
    """
    shape = Shape(FLOAT32 if dtype.is_half else dtype, lanes)
    recipe = recipe_of(function, shape.dtype)
    if recipe is not None and recipe.scalar_only:
        return None
    return _function(function, shape, register_bytes)


def conversion(source: DType, target: DType, lanes: int = 1) -> Helper:
    """Between float32 and the stored bits of float16 or bfloat16: `wb_from_bf16_f32`, `wb_to_f16_v8f32`.

    >>> from workbench.lang.dtypes import BFLOAT16
    >>> conversion(BFLOAT16, FLOAT32, 8).name
    'wb_from_bf16_v8f32'
    """
    names = {FLOAT16: "f16", BFLOAT16: "bf16"}
    if source in names and target == FLOAT32:
        return _function(f"from_{names[source]}", Shape(FLOAT32, lanes), 0)
    if source == FLOAT32 and target in names:
        return _function(f"to_{names[target]}", Shape(FLOAT32, lanes), 0)
    raise CodegenError(f"no C helper converts {source} to {target}: convert by way of float32")


@cache
def _function(name: str, shape: Shape, register_bytes: int) -> Helper:
    """Written once; `register_bytes` as in `vector`."""
    recipe = recipe_of(name, shape.dtype)
    if recipe is None:
        raise CodegenError(unknown_name(f"C function on {shape.dtype}", name, sorted(recipes(shape.dtype))))
    splits = shape.lanes > 1 and recipe.splits
    needed = recipe.register_bytes(shape) if splits else 0
    if needed <= max(register_bytes, REGISTER_BYTES):
        return _whole(name, recipe, shape, register_bytes)
    split = _split(name, recipe, shape, register_bytes)
    if register_bytes:
        return split
    whole = _whole(name, recipe, shape, register_bytes)
    source = f"#if WB_VECTOR_BYTES >= {needed}\n{whole.source}#else\n{split.source}#endif\n"
    return Helper(whole.name, source, (*whole.requires, *split.requires))


def _whole(name: str, recipe: Recipe, shape: Shape, register_bytes: int) -> Helper:
    text, calls = definition(name, recipe, shape)
    called = tuple(_function(callee, at, register_bytes) for callee, at in calls)
    return Helper(f"wb_{name}_{shape.suffix}", text, (*type_helpers(recipe, shape), *called))


def _split(name: str, recipe: Recipe, shape: Shape, register_bytes: int) -> Helper:
    requires = (*type_helpers(recipe, shape), _function(name, shape.half, register_bytes))
    return Helper(f"wb_{name}_{shape.suffix}", halves(name, recipe, shape), requires)
