"""Names in C: what the user called things, unless C or the workbench needs the name itself."""

from __future__ import annotations

import re
from dataclasses import field

from workbench.errors import CodegenError, shown
from workbench.records import record

KEYWORDS = """
    EOF HUGE_VAL I INFINITY INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX INT64_MIN INT8_MAX
    INT8_MIN M_E M_PI NAN NULL SIZE_MAX UINT16_MAX UINT32_MAX UINT64_MAX UINT8_MAX abort abs alignas
    alignof asm assert auto bool break case char complex const constexpr continue default do double else
    enum errno exit extern false float for fpclassify free gamma goto if imaginary index inline int
    int16_t int32_t int64_t int8_t intptr_t isfinite isinf isnan isnormal j0 j1 jn labs linux long main
    malloc memcpy memset nullptr ptrdiff_t register restrict return short signbit signed signgam size_t
    sizeof static static_assert stderr stdin stdout struct switch thread_local threads true typedef
    typeof uint16_t uint32_t uint64_t uint8_t union unix unsigned void volatile while workspace y0 y1 yn
"""
LIBM = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1
    fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p
    log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round
    scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc
    drem finite gamma isinf isnan j0 j1 jn scalb significand y0 y1 yn
"""
# What pthread.h and its company declare, and what compilers call without being asked.
SYSTEM = """
    asctime asctime_r bcmp clock clone ctime ctime_r daylight difftime dysize getcpu getdate gmtime gmtime_r
    localtime localtime_r memcmp memmove mktime nanosleep setns stime strftime strlen strptime time timegm
    timelocal timespec_get timespec_getres timezone tzname tzset unshare posix2time time2posix tzsetwall lgamma_r
    lgammaf_r lgammal_r isgreater isgreaterequal isless islessequal islessgreater isunordered math_errhandling
    offsetof DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS X_TLOSS HUGE HUGE_VALF HUGE_VALL MAXFLOAT CLOCKS_PER_SEC
    CAST_USER_ADDR_T USER_ADDR_NULL
"""
# Families of macros that math.h, stdint.h and what they include define, here or there.
MACROS = re.compile(
    r"((FP|MATH|U?INT\w*|PTRDIFF|R?SIZE|SIG_ATOMIC|WCHAR|WINT|MAC_OS|TARGET_OS|TARGET_IPHONE|QOS)_[A-Z0-9_]+"
    r"|M_(\d|E|LN|LOG|PI|SQRT)[A-Z0-9_]*)(?<!_)"
)
PREFIXES = (
    "_", "wb_", "WB_", "omp_", "OMP_", "GOMP_", "kmp_", "pthread_", "PTHREAD_", "sched_", "SCHED_", "clock_", "CLOCK_",
    "timer_", "TIMER_", "TIME_UTC", "CLONE_", "CPU_",
)  # fmt: skip
TAKEN = frozenset(KEYWORDS.split() + SYSTEM.split())
FUNCTIONS = frozenset(LIBM.split())


def reserved(name: str) -> bool:
    """Whether a C program may not use the name for a variable of its own."""
    base = name[:-1] if name[-1:] in ("f", "l") else name
    known = name in TAKEN or {name, base} & FUNCTIONS != set() or MACROS.fullmatch(name) is not None
    return known or name.startswith(PREFIXES) or name.endswith("_t")


@record(frozen=False)
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
        if not (candidate.isidentifier() and candidate.isascii()):
            raise CodegenError(f"{shown(name)} cannot be a name in C; expected letters a to z, digits and _")
        while reserved(candidate) or candidate in self.taken:
            candidate = f"x{candidate}" if candidate.startswith(PREFIXES) else f"{candidate}_"
        self.taken.add(candidate)
        return candidate


def comment(text: str) -> str:
    """A text that can stand in a comment of C: it does not end it, and is one line of ASCII."""
    plain = " ".join(text.encode("ascii", "replace").decode().replace("\\", "").split())
    return plain.replace("*/", "* /").replace("/*", "/ *")
