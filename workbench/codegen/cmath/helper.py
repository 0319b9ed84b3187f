"""`Helper`: one C function (or type) of the text, with what must stand before it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.records import record


@record(slots=True)
class Helper:
    """C text that kernels call: `name` is unique, `requires` must be written before `source`."""

    name: str
    source: str
    requires: tuple[Helper, ...] = ()

    def __str__(self) -> str:
        return self.source


def in_order(helpers: Iterable[Helper]) -> list[Helper]:
    """The helpers and all they need, each once, what is needed first."""
    found: dict[str, Helper] = {}

    def visit(helper: Helper) -> None:
        if helper.name not in found:
            for needed in helper.requires:
                visit(needed)
            found[helper.name] = helper

    for helper in helpers:
        visit(helper)
    return list(found.values())


BASE = Helper(
    "wb_base",
    """\
#include <math.h>
#include <stdint.h>
#ifndef WB_INLINE
#define WB_INLINE static inline __attribute__((always_inline, unused))
#define WB_COLD static __attribute__((noinline, cold, unused))
#if defined(__AVX512F__)
#define WB_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define WB_VECTOR_BYTES 32
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
#define WB_VECTOR_BYTES (__ARM_FEATURE_SVE_BITS / 8)
#else
#define WB_VECTOR_BYTES 16
#endif
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
""",
)
