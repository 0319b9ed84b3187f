"""A C compiler: what it is, what it accepts, and the flags that turn a kernel into a library."""

from __future__ import annotations

from typing import Literal

from workbench.errors import BuildError
from workbench.records import record
from workbench.target import Target

Family = Literal["gcc", "clang", "zig"]

# The schedule alone decides what is reordered, divided or put into lanes: a certificate ends at the text, and GCC 12.2
# interchanges, vectorises and packs nests in place wrongly.  So -O2, which reorders little, without the passes that do,
# and with those of -O3 that leave every iteration where it stands.
# Contraction to FMA and no errno are what speed needs.  -ffast-math is left out on purpose: it re-associates
# sums, so that register tiles spill, and NaN and infinity lose their meaning.
OPTIMISE = ("-O2", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math")
DEBUG = ("-O0", "-g", "-ffp-contract=off")
# Integers wrap in the language.  Hidden names: an operator called `exp` must not replace anybody's exp.
LANGUAGE = ("-std=gnu11", "-fwrapv", "-fno-strict-aliasing", "-fPIC", "-shared", "-fvisibility=hidden", "-w")
# GCC also forms addresses from 0 ("2*p - base"), takes them for null, and drops calls of functions that have them.
NULL_IS_NO_PROOF = "-fno-delete-null-pointer-checks"
# GCC takes 0.0 - x for -x where x is a whole number made a float, or an absolute value: a zero of the wrong sign.  But
# not where the direction of rounding may change.
ZEROS_HAVE_SIGNS = "-frounding-math"
SCALAR_PASSES = (
    "-fpeel-loops", "-ftree-partial-pre", "-fgcse-after-reload", "-fsplit-paths", "-fpredictive-commoning",
)  # fmt: skip
REORDERING_PASSES = (
    "-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize", "-fno-tree-loop-if-convert", "-fno-loop-interchange",
    "-fno-tree-loop-distribution", "-fno-tree-loop-distribute-patterns", "-fno-loop-unroll-and-jam",
    "-fno-split-loops", "-fno-unswitch-loops",
)  # fmt: skip
# Where a loop begins within a line of decoded instructions, its turns read one line more: 3 to 8 % of a product of 512.
LOOPS_AT_LINES = "-falign-loops=64"
GCC = (*SCALAR_PASSES, LOOPS_AT_LINES, *REORDERING_PASSES, NULL_IS_NO_PROOF, ZEROS_HAVE_SIGNS)
# What Clang's -O3 adds leaves the order of iterations alone (it unrolls more): its passes have no names to be asked for
# one by one.  Those that interchange, divide, fuse or jam loops are off unless asked for.
CLANG = ("-O3", "-fno-vectorize", "-fno-slp-vectorize")
ZIG = ("-fno-sanitize=undefined", "-fno-stack-protector")
FAMILIES: dict[Family, tuple[str, ...]] = {"gcc": GCC, "clang": CLANG, "zig": (*ZIG, *CLANG)}
IN_DEBUGGERS: dict[Family, tuple[str, ...]] = {"gcc": (ZEROS_HAVE_SIGNS,), "clang": (), "zig": ZIG}

WIDE_VECTORS = "-mprefer-vector-width=512"
OPENMP = "-fopenmp"
OPENMP_SIMD = "-fopenmp-simd"
VECTOR_MATHS = "-lmvec"
TUNE_HERE = ("-march=native", "-mcpu=native")

# What is tried once with each compiler; a flag that needs a library is only accepted if linking succeeds.
OPTIONAL = (*TUNE_HERE, WIDE_VECTORS, OPENMP, OPENMP_SIMD, VECTOR_MATHS)
USUAL = (TUNE_HERE[0], WIDE_VECTORS, OPENMP, OPENMP_SIMD, VECTOR_MATHS)

# Trying flags one by one would make zig build its runtime library for each: these it is known to take.
ZIG_ACCEPTS = (TUNE_HERE[1], WIDE_VECTORS, OPENMP_SIMD)


@record(slots=True)
class Toolchain:
    """A C compiler found on this machine.

    `command` starts it, `version` is its first line of `--version`, `accepted` the optional flags it takes.
    """

    name: str
    family: Family
    command: tuple[str, ...]
    version: str
    accepted: frozenset[str]

    @property
    def openmp(self) -> bool:
        """Whether OpenMP programs compile and link."""
        return OPENMP in self.accepted

    def flags(self, target: Target, debug: bool = False) -> tuple[str, ...]:
        """Everything between the command and the file names; `debug` is for reading in a debugger."""
        return (
            *(DEBUG if debug else OPTIMISE),
            *LANGUAGE,
            *(IN_DEBUGGERS if debug else FAMILIES)[self.family],
            *self._machine(target),
            *self._parallel(target),
        )

    @property
    def libraries(self) -> tuple[str, ...]:
        """What stands at the end of the command line."""
        return ("-lm", "-Wl,--as-needed", VECTOR_MATHS) if VECTOR_MATHS in self.accepted else ("-lm",)

    def _machine(self, target: Target) -> tuple[str, ...]:
        wide = (WIDE_VECTORS,) if target.vector_bits >= 512 and WIDE_VECTORS in self.accepted else ()
        if "sve" in target.isa and target.vector_bits > 128:
            if self.family == "gcc":  # 12.2: (a < b) & (b < c) of vectors shorter than the register is wrong
                raise BuildError(f"{self.name} compiles masks of short SVE vectors wrongly; choose clang, or 128 bits")
            wide = (f"-msve-vector-bits={target.vector_bits}",)
        if target.march == "native":
            return (*[f for f in TUNE_HERE if f in self.accepted][:1], *wide)
        return (f"-mcpu={target.march}" if self.family == "zig" else f"-march={target.march}", *wide)

    def _parallel(self, target: Target) -> tuple[str, ...]:
        if target.parallel == "openmp" and self.openmp:
            return (OPENMP,)
        threads = () if target.parallel == "serial" else ("-pthread",)
        return (*([OPENMP_SIMD] if OPENMP_SIMD in self.accepted else []), *threads)

    def __str__(self) -> str:
        return f"{self.name} ({self.version}; {'OpenMP' if self.openmp else 'no OpenMP'})"
