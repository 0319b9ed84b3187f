"""Stores that go past the caches: a function for one vector, and what makes them arrive before anything later."""

from __future__ import annotations

from workbench.codegen.c.helpers import Helpers
from workbench.codegen.nest.nest import Nest, writes
from workbench.lang.dtypes import DType

STORES = {16: ("__SSE2__", ""), 32: ("__AVX__", "256"), 64: ("__AVX512F__", "512")}
"""Bytes of a vector → the macro that says whether there is a store for it, and how GCC's built-in function ends."""

PART = 16

ARRIVED = """WB_INLINE void wb_arrived(void) {
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}
"""


def put_past(helpers: Helpers, dtype: DType, lanes: int) -> str | None:
    """Function `(pointer, vector)`; None where no machine has such a store.

    The instructions want addresses that are multiples of a vector's size, and many arrays begin 16 bytes behind one:
    there a vector goes in parts.  Elsewhere it is an ordinary store, and so it is for SVE, where Clang fails on others.
    """
    size = dtype.bytes * lanes
    if size not in STORES:
        return None
    t = helpers.type(dtype, lanes)
    guard, end = STORES[size]
    lines = [
        f"WB_INLINE void {t}_put_past({dtype.c_name} *p, {t} v) {{",
        "#if defined(__clang__) && !defined(__ARM_FEATURE_SVE)",
        f"    if ((uintptr_t)p % {size} == 0) __builtin_nontemporal_store(v, ({t} *)p);",
        f"    else *({t}_u *)p = v;",
        f"#elif defined({guard})",
        f"    typedef long long wb_q __attribute__((vector_size({size})));",
        f"    if ((uintptr_t)p % {size} == 0) __builtin_ia32_movntdq{end}((wb_q *)p, (wb_q)v);",
        *_in_parts(size),
        f"    else *({t}_u *)p = v;",
        "#else",
        f"    *({t}_u *)p = v;",
        "#endif",
        "}\n",
    ]
    return helpers.text(f"{t}_put_past", "\n".join(lines))


def _in_parts(size: int) -> list[str]:
    if size == PART:
        return []
    parts = [f"__builtin_shufflevector((wb_q)v, (wb_q)v, {n}, {n + 1})" for n in range(0, size // 8, 2)]
    return [
        f"    else if ((uintptr_t)p % {PART} == 0) {{",
        f"        typedef long long wb_d __attribute__((vector_size({PART})));",
        *(f"        __builtin_ia32_movntdq((wb_d *)p + {n}, {part});" for n, part in enumerate(parts)),
        "    }",
    ]


def arrived(helpers: Helpers, nest: Nest) -> list[str]:
    """The line after which others see what the nest wrote past the caches; none if it wrote nothing so."""
    if not any(w.nontemporal for w in writes(nest)):
        return []
    return [f"{helpers.text('wb_arrived', ARRIVED)}();"]
