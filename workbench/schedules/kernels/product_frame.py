"""Products through an instruction that multiplies groups of numbers: the C text around it.

    C(m,n) += A(m,k) * B(k,n)   for blocks of any size and any strides

The operands are copied into panels in the order in which registers read them, groups of neighbouring k together, padded
with zeros; a tile of cells stays in registers while k runs (Goto and van de Geijn, 2008).  A `Panel` says how one
operand is stored there; an instruction gives the text of the tile.  Of a `Form` with more loops a convolution is a
product, too: columns are the pixels, depths the channels and the places in the filter.
"""

from __future__ import annotations

from itertools import pairwise

from workbench.lang.dtypes import DTYPES
from workbench.records import record
from workbench.schedules.kernels import product_loops as loops
from workbench.schedules.kernels.micro_kernels import ProcessorKernel
from workbench.schedules.kernels.product_packing import CONVERSIONS, Panel, packing
from workbench.schedules.kernels.product_tiles import Tile, filled

DEPTH_BYTES = 1024
"""Of each row and column so much is packed at a time: a panel of B stays in the first cache, beside a row of A."""

ROWS_BYTES, COLUMNS_BYTES = (640 << 10, 160 << 10), (128 << 10, 64 << 10)
"""Bytes of the stack that the panels of A and B take, on Linux and elsewhere: a second cache holds them."""

LINE = 16
"""Sums in a cache line."""

CHAINS_OF_WORDS = 4
"""Depths are padded to so many groups, because low tiles sum up as many at once."""

Pair = tuple[str, str]


@record
class Form:
    """How many loops the columns (1 or 2), the depths (1 to 3) and the rows (1, or 0: a vector) of a product have."""

    columns: int = 1
    depths: int = 1
    rows: int = 1

    @property
    def suffix(self) -> str:
        """What the name of a micro-kernel has of it: `_c2k3`."""
        return "" if self == PLAIN else f"_c{self.columns}k{self.depths}{'' if self.rows else 'r0'}"

    @property
    def row_names(self) -> str:
        return "m"[: self.rows]

    @property
    def column_names(self) -> str:
        return "yn"[-self.columns :]

    @property
    def depth_names(self) -> str:
        return "krs"[: self.depths]

    def definition(self, left: str, right: str, result: str) -> str:
        """`def product(...)`; the strides of an operand follow its subscripts."""
        depths, columns = self.depth_names, self.column_names
        inner = columns[:-1] + depths[1:2] + columns[-1] + depths[2:]
        arrays = {"A": self.row_names + depths, "B": depths[0] + inner, "C": self.row_names + columns}
        cells = {a: f"{a}({','.join(names)})" for a, names in arrays.items()}
        a, b = (f"{result}({cells[array]})" for array in "AB")
        sizes = {a: ",".join(names.upper()) for a, names in arrays.items()}
        return f"def product({left}({sizes['A']}) A, {right}({sizes['B']}) B) -> (C) {{ {cells['C']} += {a} * {b} }}"

    def entry(self, name: str, values: dict[str, object]) -> str:
        """The function that `replace` calls: it tells the loops over blocks what this form has not."""
        used = {*(self.row_names + self.depth_names + self.column_names)}
        wanted = {"A": "mkrs", "B": "kyrns", "C": "myn"}
        strides = {f"{a}_{i}": f"{a}_{i}" if i in used else "0" for a, names in wanted.items() for i in names}
        sizes = {i: i if i.lower() in used else "1" for i in "MKRSYN"}
        taken: list[str] = []
        given: list[str] = []
        for array, kind in (("A", "const $LEFT$"), ("B", "const $RIGHT$"), ("C", "$RESULT$")):
            own = [x for x in strides if x[0] == array]
            taken += [f"{kind} *{array}", *(f"int64_t {x}" for x in own if strides[x] == x)]
            given += [array, *(strides[x] for x in own)]
        taken += [f"int64_t {x}" for x in self._sizes()]
        given += sizes.values()
        row = {"B": f"B + wb_y*{strides['B_y']}", "C": f"C + wb_y*{strides['C_y']}"}
        each = [row.get(x, x) for x in given[:-2]] + ["1", sizes["N"]]
        texts = {"TAKEN": ", ".join(taken), "GIVEN": ", ".join(given), "EACH": ", ".join(each)}
        known = {"Y": sizes["Y"], "N": sizes["N"], "B_n": strides["B_n"], "B_y": strides["B_y"]}
        return filled(loops.ENTRY, {**texts, **known, **values, "NAME": name})

    def _sizes(self) -> list[str]:
        """In the order in which the definition names them."""
        return [*(self.row_names + self.depth_names + self.column_names).upper()]


PLAIN = Form()
FORMS = tuple(Form(c, d, r) for r in (1, 0) for c in (1, 2) for d in (1, 2, 3))


@record
class ProductInstruction:
    """An instruction as `replace` and the recipes see it.

    `isa` are the features it needs, `bits` the only length of registers it is for (0: any), `operands` the pairs of
    element types it takes, `result` the type of the sums.  `tile` is the text of a tile of `rows` x `columns` sums.
    `header` stands before all.  `exact` says that it gives what the loops
    give, but for the order of the sum; an instruction that takes denormal operands for zero does not.
    """

    name: str
    isa: tuple[str, ...]
    operands: tuple[Pair, ...]
    result: str
    rows: int
    columns: int
    left: Panel
    right: Panel
    tile: Tile
    header: str = ""
    bits: int = 0
    exact: bool = True

    def kernel_name(self, left: str, right: str, form: Form = PLAIN) -> str:
        """`wb_madd256_i8_u8`."""
        return f"{self.name}_{_short(left)}_{_short(right)}{form.suffix}"

    def kernel(self, left: str, right: str, form: Form = PLAIN) -> ProcessorKernel:
        """The micro-kernel for operands of these element types."""
        name = self.kernel_name(left, right, form)
        source = self._source(name, left, right, form)
        return ProcessorKernel(name, form.definition(left, right, self.result), source, isa=self.isa)

    def _source(self, name: str, left: str, right: str, form: Form) -> str:
        group, lanes, heights = self.left.group, self.tile.lanes, self.tile.heights(self.rows)
        values: dict[str, object] = {
            "ARGUMENTS": loops.ARGUMENTS, "CONSTANTS": loops.OFFSETS if self.left.offset else "",
            "LESS": loops.LESS if self.left.offset else "", "NAME": name,
            "LEFT": DTYPES[left].c_name, "RIGHT": DTYPES[right].c_name,
            "RESULT": DTYPES[self.result].c_name, "A_TYPE": self.left.type, "B_TYPE": self.right.type,
            "ROWS": self.rows, "COLUMNS": self.columns, "LANES": lanes, "LINE": LINE, "OFFSET": self.left.offset,
            "SUMS": "sums" if self.left.offset else "0", "DEPTH": DEPTH_BYTES // self.right.bytes,
            "MOST": _panels(ROWS_BYTES, self.rows), "WIDE": _panels(COLUMNS_BYTES, self.columns),
            "STEP": group * CHAINS_OF_WORDS,
        }  # fmt: skip
        of_rows = "".join(f"n > {b} ? {a} : " for a, b in pairwise(heights)) + str(heights[-1])
        of_columns = f"(n + {lanes - 1}) / {lanes} * {lanes}"
        parts = [
            self.header, CONVERSIONS, loops.STACK,
            packing(f"{name}_rows", left, self.left, self.rows, 4, of_rows),
            packing(f"{name}_columns", right, self.right, self.columns, lanes, of_columns),
            *self._tiles(values), loops.ADDED, loops.BLOCKS,
        ]  # fmt: skip
        return filled("".join(parts), values) + form.entry(name, values)

    def _tiles(self, values: dict[str, object]) -> list[str]:
        """A function for each number of rows and registers, and one that chooses among them."""
        begin = "-((const V *)less)[j]" if self.left.offset else "(V){0}"
        texts, cases = [], []
        for height in self.tile.heights(self.rows):
            for width in range(1, self.columns // self.tile.lanes + 1):
                own = {"HEIGHT": height, "WIDTH": width}
                texts.append(f"{filled(loops.TILE_OF, own)}{{\n{self.tile.body(height, width, begin)}\n}}\n")
                cases.append(filled(loops.CASE, own))
        return [*texts, loops.CHOICE.replace("$CASES$", "".join(cases))]


def _panels(sizes: tuple[int, ...], lanes: int) -> str:
    """Rows or columns that are packed at a time, a whole number of panels in so many bytes each."""
    return ", ".join(str(max(1, size // (DEPTH_BYTES * lanes)) * lanes) for size in sizes)


def _short(name: str) -> str:
    return name.replace("uint", "u").replace("bfloat", "bf").replace("float", "f").replace("int", "i")
