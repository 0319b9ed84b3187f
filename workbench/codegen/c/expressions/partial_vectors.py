"""Vectors of which only the first lanes exist: what lies behind them in memory is neither read nor written."""

from __future__ import annotations

from workbench.codegen.c.helpers import MASKS, Helpers
from workbench.lang.dtypes import DType

LOADS = {
    (8, 32): ("__AVX__", "maskloadps256", "maskstoreps256"),
    (4, 32): ("__AVX__", "maskloadps", "maskstoreps"),
    (4, 64): ("__AVX__", "maskloadpd256", "maskstorepd256"),
    (2, 64): ("__AVX__", "maskloadpd", "maskstorepd"),
    (16, 32): ("__AVX512F__", "loadups512_mask", "storeups512_mask"),
    (8, 64): ("__AVX512F__", "loadupd512_mask", "storeupd512_mask"),
}
"""(lanes, bits) → the macro that says whether there are instructions, and the built-in functions that are these."""


def has_masks(dtype: DType, lanes: int) -> bool:
    """Whether some machine has instructions for a vector that ends early."""
    return not dtype.is_half and (lanes, dtype.bits) in LOADS


def first_lanes(helpers: Helpers, dtype: DType, lanes: int) -> str:
    """Function `(pointer, n)`: the first n elements, zeros behind them."""
    t, (guard, load, _) = helpers.type(dtype, lanes), LOADS[lanes, dtype.bits]
    arguments = _arguments(dtype, lanes, "const ", "(F){0}")
    wide = [*_prepared(helpers, dtype, lanes), f"return ({t})__builtin_ia32_{load}({arguments});"]
    plain = [f"{t} v = {{0}};", f"for (int l = 0; l < {lanes} && l < n; l++) v[l] = p[l];", "return v;"]
    head = f"{t} {t}_first(const {dtype.c_name} *p, int64_t n)"
    return helpers.text(f"{t}_first", _function(head, guard, wide, plain))


def put_first(helpers: Helpers, dtype: DType, lanes: int) -> str:
    """Function `(pointer, vector, n)` that stores the first n elements."""
    t, (guard, _, store) = helpers.type(dtype, lanes), LOADS[lanes, dtype.bits]
    arguments = _arguments(dtype, lanes, "", "(F)v")
    wide = [*_prepared(helpers, dtype, lanes), f"__builtin_ia32_{store}({arguments});"]
    plain = [f"for (int l = 0; l < {lanes} && l < n; l++) p[l] = v[l];"]
    head = f"void {t}_put_first({dtype.c_name} *p, {t} v, int64_t n)"
    return helpers.text(f"{t}_put_first", _function(head, guard, wide, plain))


def _prepared(helpers: Helpers, dtype: DType, lanes: int) -> list[str]:
    """The vector type of the instructions, and the mask."""
    number, integer = ("float", "int") if dtype.bits == 32 else ("double", "long long")
    size, whole = lanes * dtype.bits // 8, f"n > {lanes} ? {lanes} : n < 0 ? 0 : n"
    floats = f"typedef {number} F __attribute__((vector_size({size})));"
    if size == 64:
        return [floats, f"const unsigned m = (1u << ({whole})) - 1;"]
    mask, of = helpers.type(MASKS[dtype.bits], lanes), MASKS[dtype.bits].c_name
    fill, places = ", ".join(["k"] * lanes), ", ".join(map(str, range(lanes)))
    return [
        floats,
        f"typedef {integer} I __attribute__((vector_size({size})));",
        f"const {of} k = {whole};",
        f"const I m = (I)(({mask}){{{places}}} < ({mask}){{{fill}}});",
    ]


def _arguments(dtype: DType, lanes: int, qualifier: str, value: str) -> str:
    """The arguments of the built-in function: with a mask of bits the value comes second, else last."""
    if lanes * dtype.bits == 512:
        number = "float" if dtype.bits == 32 else "double"
        return f"({qualifier}{number} *)p, {value}, m"
    return f"({qualifier}F *)p, m" + ("" if qualifier else f", {value}")


def _function(head: str, guard: str, wide: list[str], plain: list[str]) -> str:
    """Instructions of the machine if it has them, else lane by lane."""
    parts = (f"#if defined({guard})", *(f"    {x}" for x in wide), "#else", *(f"    {x}" for x in plain), "#endif")
    return "\n".join((f"WB_INLINE {head} {{", *parts, "}", ""))
