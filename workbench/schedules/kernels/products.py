"""Instructions that multiply groups of 8- and 16-bit numbers, on x86 and ARM: the table, the best ones first.

What is worth packing is a schedule with an instruction at the bottom (`lane_instructions.py`, `tile_instructions.py`).
These functions do the rest, because columns that run over the ends of rows (of small pictures; what is summed there is
not kept) are no instances of the program, and what is small, thin or a vector takes longer when steps copy it.

Products of 8-bit numbers are summed in 32 bits without saturation, so each gives the bits of the loops; `vpmaddubsw`,
whose sums of two saturate at 16 bits, does not and is not here.  The instructions for bfloat16 round a sum in their own
way and take denormal operands for zero.
"""

from __future__ import annotations

from functools import cache

from workbench.schedules.kernels.micro_kernels import ProcessorKernel, register
from workbench.schedules.kernels.product_frame import FORMS, PLAIN, Form, Pair, ProductInstruction
from workbench.schedules.kernels.product_packing import Panel
from workbench.schedules.kernels.product_tiles import vectors
from workbench.target import Target

X86 = "#include <immintrin.h>\n"
ARM = "#include <arm_neon.h>\n"

SS, US, SU, UU = (("int8", "int8"),), (("uint8", "int8"),), (("int8", "uint8"),), (("uint8", "uint8"),)
BYTES = (*SS, *US, *SU, *UU)
BF16 = (("bfloat16", "bfloat16"),)
_FLOATS = ("bfloat16", "float16", "float32")
HALVES = tuple((a, b) for a in _FLOATS for b in _FLOATS if a != "float32" or b != "float32")

S8, U8, S16, B16, F32 = (
    Panel("int8_t", 4), Panel("uint8_t", 4), Panel("int16_t", 2), Panel("uint16_t", 2), Panel("float", 1)
)  # fmt: skip
S8_FROM_128 = Panel("uint8_t", 4, offset=128)


def _on_vectors(
    name: str,
    isa: str,
    operands: tuple[Pair, ...],
    panels: tuple[Panel, Panel],
    bits: int,
    dot: str,
    *,
    any_bits: bool = True,
) -> ProductInstruction:  # fmt: skip
    """An instruction on whole registers: sums `r`, and words `x` and `y` of a group each."""
    rows, columns = (12, 32) if bits == 512 else (6, 16 if bits == 256 else 12)
    plain = panels[0].type == "float"
    result = "float32" if plain or operands == BF16 else "int32"
    text = vectors(
        rows, columns, bits, dot, group=panels[0].group, word="float" if plain else "int32_t",
        result="float" if result == "float32" else "int32_t",
    )  # fmt: skip
    header = "" if plain else ARM if bits == 128 else X86
    return ProductInstruction(
        name, (isa,), operands, result, rows, columns, *panels, text, header,
        bits=0 if any_bits else bits, exact=operands != BF16,
    )  # fmt: skip


BY_BYTES = "(V)_mm{0}_dpbusd{1}_epi32((__m{0}i)r, (__m{0}i)x, (__m{0}i)y)"
BY_WORDS = "(V)_mm{0}_dpwssd{1}_epi32((__m{0}i)r, (__m{0}i)x, (__m{0}i)y)"
MADD = "r + (V)_mm{0}_madd_epi16((__m{0}i)x, (__m{0}i)y)"
DPBF16 = "(V)_mm512_dpbf16_ps((__m512)r, (__m512bh)x, (__m512bh)y)"
SDOT = "(V)vdotq_s32((int32x4_t)r, (int8x16_t)x, (int8x16_t)y)"
UDOT = "(V)vdotq_u32((uint32x4_t)r, (uint8x16_t)x, (uint8x16_t)y)"
USDOT = "(V)vusdotq_s32((int32x4_t)r, (uint8x16_t)x, (int8x16_t)y)"
BFDOT = "(V)vbfdotq_f32((float32x4_t)r, (bfloat16x8_t)x, (bfloat16x8_t)y)"
FUSED = "r + x * y"

INSTRUCTIONS: tuple[ProductInstruction, ...] = (
    _on_vectors("wb_vnni512_us", "avx512_vnni", US, (U8, S8), 512, BY_BYTES.format(512, "")),
    _on_vectors("wb_vnni512_ss", "avx512_vnni", SS, (S8_FROM_128, S8), 512, BY_BYTES.format(512, "")),
    _on_vectors("wb_vnni512", "avx512_vnni", BYTES, (S16, S16), 512, BY_WORDS.format(512, "")),
    _on_vectors("wb_bf16_512", "avx512_bf16", BF16, (B16, B16), 512, DPBF16),
    _on_vectors("wb_madd512", "avx512bw", BYTES, (S16, S16), 512, MADD.format(512)),
    _on_vectors("wb_vnni256_us", "avx_vnni", US, (U8, S8), 256, BY_BYTES.format(256, "_avx")),
    _on_vectors("wb_vnni256_ss", "avx_vnni", SS, (S8_FROM_128, S8), 256, BY_BYTES.format(256, "_avx")),
    _on_vectors("wb_vnni256", "avx_vnni", BYTES, (S16, S16), 256, BY_WORDS.format(256, "_avx")),
    _on_vectors("wb_madd256", "avx2", BYTES, (S16, S16), 256, MADD.format(256)),
    _on_vectors("wb_sdot", "dotprod", SS, (S8, S8), 128, SDOT),
    _on_vectors("wb_udot", "dotprod", UU, (U8, U8), 128, UDOT),
    _on_vectors("wb_usdot", "i8mm", US, (U8, S8), 128, USDOT),
    _on_vectors("wb_bfdot", "bf16", BF16, (B16, B16), 128, BFDOT),
    *(
        _on_vectors(f"wb_widened_{isa}_{bits}", isa, HALVES, (F32, F32), bits, FUSED, any_bits=False)
        for isa, bits in (("avx512f", 512), ("avx2", 256), ("sve", 512), ("sve", 256), ("neon", 128))
    ),
)
"""Where a machine has several for the same operands, the recipes take the first."""


def instruction_for(left: str, right: str, result: str, target: Target) -> ProductInstruction | None:
    """The best instruction of a machine for a product of these element types; None if it has none."""
    fitting = (x for x in INSTRUCTIONS if x.result == result and (left, right) in x.operands)
    return next((x for x in fitting if {*x.isa} <= {*target.isa} and x.bits in (0, target.vector_bits)), None)


@cache
def product_kernel(own: ProductInstruction, left: str, right: str, form: Form = PLAIN) -> ProcessorKernel:
    """The micro-kernel of an instruction for these element types, registered."""
    return register(own.kernel(left, right, form))


FORMERLY = {
    "wb_amx_ss": "wb_vnni512_ss", "wb_amx_us": "wb_vnni512_us", "wb_amx_su": "wb_vnni512", "wb_amx_uu": "wb_vnni512",
    "wb_amx_bf16": "wb_bf16_512", "wb_smmla": "wb_sdot", "wb_usmmla": "wb_usdot", "wb_ummla": "wb_udot",
    "wb_bfmmla": "wb_bfdot",
}  # fmt: skip
"""What old records call functions that were in their place once: the same products, by another instruction."""


def product_names() -> dict[str, tuple[ProductInstruction, Pair, Form]]:
    """Name of a micro-kernel → the instruction, the element types and the loops it is for."""
    return {
        own.kernel_name(*pair, form): (own, pair, form)
        for own in INSTRUCTIONS
        for pair in own.operands
        for form in FORMS
    }


def called_now(name: str) -> str:
    """The name of the micro-kernel that does what one of this name did in old records."""
    old = next((x for x in FORMERLY if name.startswith(f"{x}_")), "")
    return FORMERLY[old] + name.removeprefix(old) if old else name
