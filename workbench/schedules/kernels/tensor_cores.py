"""NVIDIA's tensor cores through `mma.sync` (PTX ISA, "Matrix fragments for mma"): bf16, fp16, and tf32 for who asks."""

from __future__ import annotations

from workbench.schedules.kernels.micro_kernels import register
from workbench.schedules.kernels.warp_instructions import Fragment, WarpInstruction

RESULT = Fragment(((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)), ((0, 1), (8, 0)))
LEFT = Fragment(RESULT.lane, ((0, 1), (8, 0), (0, 8)))
RIGHT = Fragment(((2, 0), (4, 0), (0, 1), (0, 2), (0, 4)), ((1, 0), (8, 0)))
LEFT_WORDS = Fragment(((0, 1), (0, 2), (1, 0), (2, 0), (4, 0)), ((8, 0), (0, 4)))
RIGHT_WORDS = Fragment(((1, 0), (2, 0), (0, 1), (0, 2), (0, 4)), ((4, 0),))


def _function(name: str, operation: str, lines: str = "", a: str = "a", b: str = "b") -> str:
    return f"""\
WB_INLINE void {name}(float *d, const uint32_t *a, const uint32_t *b)
{{
{lines}    asm("{operation} "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"({a}[0]), "r"({a}[1]), "r"({a}[2]), "r"({a}[3]), "r"({b}[0]), "r"({b}[1]));
}}
"""


ROUNDED = """\
    uint32_t u[4], v[2];
    WB_UNROLL for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u[i]) : "r"(a[i]));
    WB_UNROLL for (int i = 0; i < 2; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(v[i]) : "r"(b[i]));
"""


def _definition(kind: str) -> str:
    return f"def product({kind}(M,K) A, {kind}(K,N) B) -> (C) {{ C(m,n) += A(m,k) * B(k,n) }}"


def _sixteen(kind: str, short: str) -> WarpInstruction:
    """The instruction for a 16-bit type."""
    name = f"wb_mma_m16n8k16_{short}"
    text = _function(name, f"mma.sync.aligned.m16n8k16.row.col.f32.{short}.{short}.f32")
    sizes = (("M", 16), ("N", 8), ("K", 16))
    return WarpInstruction(name, _definition(kind), text, sizes, (), LEFT, RIGHT, RESULT)


def _words() -> WarpInstruction:
    name = "wb_mma_m16n8k8_tf32"
    text = _function(name, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ROUNDED, "u", "v")
    sizes = (("M", 16), ("N", 8), ("K", 8))
    return WarpInstruction(name, _definition("float"), text, sizes, (), LEFT_WORDS, RIGHT_WORDS, RESULT, mantissa=10)


BFLOAT16 = register(_sixteen("bfloat16", "bf16"))
FLOAT16 = register(_sixteen("float16", "f16"))
TF32 = register(_words())
EXACT = (BFLOAT16, FLOAT16)
"""Those that lose nothing of their operands, which recipes may take without being asked."""
