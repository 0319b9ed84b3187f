"""What C lacks for vectors: selection, bit casts, widening, each a recipe.

Selection is arithmetic on masks, which GCC and Clang turn into a blend; written as a loop over lanes GCC
makes branches of it.
"""

from __future__ import annotations

from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value


def number_constants(shape: Shape) -> dict[str, Value]:
    """The lanes, the element type, the sign bit, and the suffix of C's functions for the type."""
    unsigned = "u" if shape.bits == 32 else "ull"
    sign = 1 << (shape.bits - 1)
    return {
        "LANES": str(shape.lanes),
        "ELEMENT": shape.dtype.c_name,
        "FILL": ", ".join(["x"] * shape.lanes),
        "SIGN": f"{sign:#x}{unsigned}",
        "REST": f"{sign - 1:#x}{unsigned}",
        "F": "f" if shape.bits == 32 else "",
        "KIND": "s" if shape.bits == 32 else "d",
        "HALF": 0.5,
        "INF": float("inf"),
        "NAN": float("nan"),
    }


def lanewise(value: str, parameters: str = "$T x") -> Recipe:
    """`value` for every lane; parameters are written `{x}` in it."""
    body, looped = value, value
    for name in (p.split()[-1] for p in parameters.split(",")):
        body = body.replace(f"{{{name}}}", name)
        looped = looped.replace(f"{{{name}}}", f"{name}[l]")
    loop = f"    $T r = {{0}};\n    for (int l = 0; l < $LANES; l++) r[l] = {looped};\n    return r;"
    return Recipe(f"    return {body};", parameters, constants=number_constants, vector_body=loop)


def _plain(body: str, parameters: str) -> Recipe:
    return Recipe(f"    return {body};", parameters, "$T", number_constants)


def _pair(scalar: str, vector: str, parameters: str, result: str) -> Recipe:
    return Recipe(scalar, parameters, result, number_constants, vector)


ANY = """
    uint64_t w[sizeof m / 8], any = 0;
    __builtin_memcpy(w, &m, sizeof m);
    for (unsigned l = 0; l < sizeof m / 8; l++) any |= w[l];
    return any != 0;
"""

SELECT = _pair("    return m ? a : b;", "    return ($T)((m & ($I)a) | (~m & ($I)b));", "$I m, $T a, $T b", "$T")
PRIMITIVES: dict[str, Recipe] = {
    "select": SELECT,
    "all": _pair("    return x;", "    return ($T){$FILL};", "$ELEMENT x", "$T"),
    "any": _pair("    return m;", ANY, "$I m", "int"),
    "bits": _pair(
        "    $U u;\n    __builtin_memcpy(&u, &x, sizeof u);\n    return u;", "    return ($U)x;", "$T x", "$U"
    ),
    "real": _pair(
        "    $T x;\n    __builtin_memcpy(&x, &u, sizeof x);\n    return x;", "    return ($T)u;", "$U u", "$T"
    ),
    "widen": _pair("    return (double)x;", "    return __builtin_convertvector(x, $D);", "$T x", "$D"),
    "narrow": _pair("    return ($T)x;", "    return __builtin_convertvector(x, $T);", "$D x", "$T"),
    "with_sign": _plain("$real($bits(x) | ($bits(y) & $SIGN))", "$T x, $T y"),
}
