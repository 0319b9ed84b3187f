"""Instructions that add a few products to a sum in every lane of a register, as data.

    C(n) += A(k) * B(n,k)   for the n in lanes and a group of neighbouring k: vdpbf16ps, vpdpbusd, sdot

A group is a word of 32 bits, as wide as a sum: of one operand a word goes to all lanes, of the other each lane has its
own.  A schedule gets there by packing (`stage`, `transform_layout` with `k / 2` outside and `k % 2` innermost), a tile
of cells around the loop over groups, and `replace` of the loop over one group, which stands inside the loop in lanes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from itertools import product

from workbench.lang.dtypes import DTYPES, INT8, INT16, UINT8, DType
from workbench.lang.expr import Expr, Read, transform
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop
from workbench.records import record
from workbench.schedules.kernels.matching import unified
from workbench.schedules.kernels.micro_kernels import ProcessorKernel

WORD_BYTES = 4
X86 = "#include <immintrin.h>\n"
ARM = "#include <arm_neon.h>\n"


@record
class LaneInstruction(ProcessorKernel):
    """One instruction: in every lane the sum of a group's products is added to a number of 32 bits.

    `operands` are the element types in the order in which it takes them, `result` that of the sums.  `forms` are C
    expressions by the number of lanes: of sums `r` and words `x` and `y`, vectors of which `{r}` and `{w}` are the
    types.  `header` stands before them.  A `shifted` one takes its first operand 128 higher: that one is the word
    for all lanes and has to be in a buffer of its own.
    """

    operands: tuple[str, str] = ("", "")
    result: str = ""
    forms: tuple[tuple[int, str], ...] = ()
    header: str = ""
    shifted: bool = False

    @property
    def group(self) -> int:
        """Products that are added at once."""
        return WORD_BYTES // DTYPES[self.operands[0]].bytes

    def function(self, lanes: int) -> str:
        """Name of the C function for so many lanes; empty if there is none."""
        return f"wb_{self.name}_{lanes}" if lanes in dict(self.forms) else ""


def lane_instruction(
    name: str, isa: tuple[str, ...], operands: tuple[str, str], result: str, forms: dict[int, str], header: str, *,
    shifted: bool = False,
) -> LaneInstruction:  # fmt: skip
    """An instruction as `replace` knows it; `wb.register` makes it known."""
    a, b = operands
    definition = f"def {name}({a}(K) A, {b}(K) B) -> (c) {{ c += {result}(A(k)) * {result}(B(k)) }}"
    source = header + "".join(function_text(name, result, lanes, text) for lanes, text in forms.items())
    return LaneInstruction(
        name, definition, source, isa=isa, operands=operands, result=result, forms=tuple(forms.items()),
        header=header, shifted=shifted,
    )  # fmt: skip


def function_text(name: str, result: str, lanes: int, form: str) -> str:
    """The C function that executes an instruction for so many lanes."""
    own, size = f"wb_{name}_{lanes}", lanes * WORD_BYTES
    form = form.replace("{r}", f"{own}_r").replace("{w}", f"{own}_w")
    return (
        f"typedef {DTYPES[result].c_name} {own}_r __attribute__((vector_size({size})));\n"
        f"typedef int32_t {own}_w __attribute__((vector_size({size})));\n"
        f"WB_INLINE {own}_r {own}({own}_r r, {own}_w x, {own}_w y) {{\n    return ({own}_r){form};\n}}\n"
    )


# -- Whether a part of a schedule is what an instruction executes --

def lane_fit(
    kernel: LaneInstruction, s: ProgramStatement, inner: tuple[Loop, ...], around: tuple[Loop, ...]
) -> tuple[Read, Read] | str:
    """The operands in the order of the instruction, where it executes the loop `inner` inside the loops `around`; else
    what stands against that.
    """
    if s.kind != "update" or s.reduction != "+" or len(s.targets) != 1:
        return f"{s.name} is no sum"
    if len(inner) != 1 or all(x.kind != "vector" for x in around):
        return (
            f"{kernel.name} adds {kernel.group} products in every lane: it takes a loop over so many contributions, "
            "innermost in a vector loop over cells"
        )
    return operands(kernel, s.values[0]) or f"{s.name} does not hold {kernel.definition.strip()}"


def operands(kernel: ProcessorKernel, value: Expr) -> tuple[Read, Read] | None:
    """What a value multiplies, in the order in which the instruction takes it; None if it is no such product.

    Bytes may stand where an instruction takes integers of 16 bits: they are widened on their way to the registers.
    """
    kinds = [kernel.operator.tensors[a].dtype for a in "AB"]
    for own in product(*map(_taken, kinds)):
        types = dict(zip("AB", own, strict=True))

        def typed(node: Expr, types: dict[str, DType] = types) -> Expr:
            return replace(node, dtype=types[node.tensor]) if isinstance(node, Read) else node

        for found in unified(transform(kernel.statement.values[0], typed), value, {}):
            first, second = (Read(*found[a][0], types[a]) for a in "AB")
            return first, second
    return None


def _taken(kind: DType) -> tuple[DType, ...]:
    """The element types that an instruction can be given for one of its own."""
    return (kind, INT8, UINT8) if kind == INT16 else (kind,)


# -- The instructions --

def _bf16(bits: int) -> str:
    short = "" if bits == 128 else str(bits)
    return f"_mm{short}_dpbf16_ps((__m{bits})r, (__m{bits}bh)x, (__m{bits}bh)y)"


def _bytes(bits: int, kind: str = "") -> str:
    short = "" if bits == 128 else str(bits)
    return f"_mm{short}_dpbusd{kind}_epi32((__m{bits}i)r, (__m{bits}i)x, (__m{bits}i)y)"


def _words(bits: int, kind: str = "") -> str:
    return _bytes(bits, kind).replace("dpbusd", "dpwssd")


def _pairs(bits: int) -> str:
    short = "" if bits == 128 else str(bits)
    return f"(r + ({{r}})_mm{short}_madd_epi16((__m{bits}i)x, (__m{bits}i)y))"


def _arm(name: str, sums: str, left: str, right: str) -> dict[int, str]:
    return {4: f"{name}(({sums})r, ({left})x, ({right})y)"}


@cache
def lane_instructions() -> tuple[LaneInstruction, ...]:
    """Every instruction; where a machine has several for the same operands, recipes take the first.

    What `vdpbf16ps` and `bfdot` add up is rounded in their own way, and denormal operands are zero to them.
    """
    return (
        lane_instruction("vdpbf16ps", ("avx512_bf16", "avx512vl"), ("bfloat16", "bfloat16"), "float32",
                         {16: _bf16(512), 8: _bf16(256), 4: _bf16(128)}, X86),
        lane_instruction("vpdpbusd", ("avx512_vnni", "avx512vl"), ("uint8", "int8"), "int32",
                         {16: _bytes(512), 8: _bytes(256), 4: _bytes(128)}, X86),
        lane_instruction("vpdpbusd_s8", ("avx512_vnni", "avx512vl"), ("int8", "int8"), "int32",
                         {16: _bytes(512), 8: _bytes(256), 4: _bytes(128)}, X86, shifted=True),
        lane_instruction("vpdpbusd_s8_vex", ("avx_vnni",), ("int8", "int8"), "int32",
                         {8: _bytes(256, "_avx"), 4: _bytes(128, "_avx")}, X86, shifted=True),
        lane_instruction("vpdpbusd_vex", ("avx_vnni",), ("uint8", "int8"), "int32",
                         {8: _bytes(256, "_avx"), 4: _bytes(128, "_avx")}, X86),
        lane_instruction("vpdpwssd", ("avx512_vnni", "avx512vl"), ("int16", "int16"), "int32",
                         {16: _words(512), 8: _words(256), 4: _words(128)}, X86),
        lane_instruction("vpdpwssd_vex", ("avx_vnni",), ("int16", "int16"), "int32",
                         {8: _words(256, "_avx"), 4: _words(128, "_avx")}, X86),
        lane_instruction("vpmaddwd_512", ("avx512bw", "avx512vl"), ("int16", "int16"), "int32",
                         {16: _pairs(512), 8: _pairs(256), 4: _pairs(128)}, X86),
        lane_instruction("vpmaddwd", ("avx2",), ("int16", "int16"), "int32", {8: _pairs(256), 4: _pairs(128)}, X86),
        lane_instruction("sdot", ("dotprod",), ("int8", "int8"), "int32",
                         _arm("vdotq_s32", "int32x4_t", "int8x16_t", "int8x16_t"), ARM),
        lane_instruction("udot", ("dotprod",), ("uint8", "uint8"), "int32",
                         _arm("vdotq_u32", "uint32x4_t", "uint8x16_t", "uint8x16_t"), ARM),
        lane_instruction("usdot", ("i8mm",), ("uint8", "int8"), "int32",
                         _arm("vusdotq_s32", "int32x4_t", "uint8x16_t", "int8x16_t"), ARM),
        lane_instruction("bfdot", ("bf16",), ("bfloat16", "bfloat16"), "float32",
                         _arm("vbfdotq_f32", "float32x4_t", "bfloat16x8_t", "bfloat16x8_t"), ARM),
    )  # fmt: skip


def lane_instruction_for(left: str, right: str, result: str, isa: Collection[str]) -> LaneInstruction | None:
    """The first instruction of a machine for a product of these element types, in either order; None if it has none."""
    for own in lane_instructions():
        if own.result == result and own.operands in ((left, right), (right, left)) and {*own.isa} <= {*isa}:
            return own
    return None
