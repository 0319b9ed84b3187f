"""Names in C: what the user called things, unless C or the workbench needs the name itself."""

from __future__ import annotations

from dataclasses import dataclass, field

KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    asm typeof bool true false nullptr thread_local alignas alignof static_assert constexpr main errno
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t NULL INFINITY NAN
    HUGE_VAL signbit isnan isinf isfinite isnormal fpclassify assert threads workspace linux unix
    memcpy memset malloc free abs labs exit abort signgam y0 y1 yn j0 j1 jn gamma index stdin stdout stderr
    INT8_MIN INT16_MIN INT32_MIN INT64_MIN INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX
    UINT64_MAX SIZE_MAX M_PI M_E EOF complex imaginary I""".split()
)
LIBM = frozenset(
    """acos acosh asin asinh atan atanh atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim
    floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
    modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalbln scalbn sin sincos sinh sqrt
    tan tanh tgamma trunc""".split()
)


def reserved(name: str) -> bool:
    """Whether a C program may not use the name for a variable of its own."""
    base = name[:-1] if name[-1:] in ("f", "l") else name
    return name in KEYWORDS or name in LIBM or base in LIBM or name.startswith(("wb_", "_"))


@dataclass
class Names:
    """One C name for each (kind, name); different things never share one."""

    taken: set[str] = field(default_factory=set)
    given: dict[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, kind: str, name: str) -> str:
        key = (kind, name)
        if key not in self.given:
            self.given[key] = self._new(name)
        return self.given[key]

    def _new(self, name: str) -> str:
        candidate = name.replace(".", "_")
        while reserved(candidate) or candidate in self.taken:
            candidate = ("x" if candidate.startswith("_") else "") + candidate + "_"
        self.taken.add(candidate)
        return candidate
