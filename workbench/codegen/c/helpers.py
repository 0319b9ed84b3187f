"""The helpers a unit uses, each written once, in the order in which they need one another."""

from __future__ import annotations

from dataclasses import field

from workbench.codegen import cmath
from workbench.codegen.cmath.helper import Helper
from workbench.lang.dtypes import INT8, INT16, INT32, INT64, UINT8, UINT16, DType
from workbench.records import record

MASKS = {8: INT8, 16: INT16, 32: INT32, 64: INT64}
LETTERS = {"float": "f", "int": "i", "uint": "u"}


@record(frozen=False)
class Helpers:
    """Collects helper texts while a unit is printed; `register_bytes` is the width of a vector register."""

    register_bytes: int = 0
    texts: dict[str, str] = field(default_factory=dict)

    def scalar(self, function: str, dtype: DType) -> str:
        """Name of the scalar function, noted as used."""
        return self.add(cmath.scalar(function, dtype))

    def vector(self, function: str, dtype: DType, lanes: int) -> str | None:
        """Name of the vector function, or None if there is none."""
        helper = cmath.vector(function, dtype, lanes, register_bytes=self.register_bytes)
        return None if helper is None else self.add(helper)

    def conversion(self, source: DType, target: DType, lanes: int = 1) -> str:
        """Name of the function between float32 and a 16-bit float's stored bits."""
        return self.add(cmath.conversion(source, target, lanes))

    def converted(self, text: str, source: DType, target: DType, lanes: int, *, fits: bool = False) -> str:
        """A vector of numbers (of masks, as integers) in another element type, within whose ends floats may `fit`."""
        if source == target:
            return text
        for helper in cmath.converted(source, target, lanes, fits=fits):
            text = f"{self.add(helper)}({text})"
        return text

    def add(self, helper: Helper) -> str:
        for needed in helper.requires:
            self.add(needed)
        self.texts.setdefault(helper.name, helper.source)
        return helper.name

    def text(self, name: str, source: str) -> str:
        """A helper given as text."""
        self.texts.setdefault(name, source)
        return name

    def type(self, dtype: DType, lanes: int) -> str:
        """Name of the vector type, declared with its mask type and its unaligned form."""
        helper = cmath.vector_types(dtype, lanes)
        return self.add(helper)

    def mask(self, dtype: DType, lanes: int) -> str:
        """Name of the integer vector type that comparisons of `dtype` vectors give."""
        return self.type(MASKS[8 * dtype.bytes], lanes)

    def splat(self, dtype: DType, lanes: int) -> str:
        """Function that fills a vector with one value."""
        if dtype.is_half or dtype.kind == "bool":
            return self.splat(UINT16 if dtype.is_half else UINT8, lanes)
        t, suffix = self.type(dtype, lanes), f"v{lanes}{LETTERS[dtype.kind]}{dtype.bits}"
        fill = ", ".join(["x"] * lanes)
        return self.text(
            f"wb_all_{suffix}",
            f"WB_INLINE {t} wb_all_{suffix}({dtype.c_name} x) {{\n    return ({t}){{{fill}}};\n}}\n",
        )

    def every_second(self, dtype: DType, lanes: int) -> str:
        """Function that loads every second element: two loads that touch nothing beyond the last one, and a shuffle."""
        t = self.type(dtype, lanes)
        places = [2 * i for i in range(lanes // 2)] + [lanes + 2 * i + 1 for i in range(lanes // 2)]
        shuffle = f"__builtin_shufflevector(a, b, {', '.join(map(str, places))})"
        body = f"    {t} a = *(const {t}_u *)p, b = *(const {t}_u *)(p + {lanes - 1});\n    return {shuffle};"
        return self.text(
            f"{t}_every_second", f"WB_INLINE {t} {t}_every_second(const {dtype.c_name} *p) {{\n{body}\n}}\n"
        )

    def apart(self, dtype: DType, lanes: int) -> str:
        """Function that loads elements that stand `step` apart, one after the other."""
        t = self.type(dtype, lanes)
        elements = ", ".join(["p[0]", "p[step]", *(f"p[{i} * step]" for i in range(2, lanes))])
        head = f"WB_INLINE {t} {t}_apart(const {dtype.c_name} *p, int64_t step)"
        return self.text(f"{t}_apart", f"{head} {{\n    return ({t}){{{elements}}};\n}}\n")

    def backwards(self, dtype: DType, lanes: int) -> tuple[str, str]:
        """Functions that load and store lanes one after the other towards the beginning of memory."""
        t = self.type(dtype, lanes)
        turned = f"__builtin_shufflevector(x, x, {', '.join(map(str, reversed(range(lanes))))})"
        load = f"    {t} x = *(const {t}_u *)(p - {lanes - 1});\n    return {turned};"
        store = f"    *({t}_u *)(p - {lanes - 1}) = {turned};"
        return (
            self.text(
                f"{t}_backwards", f"WB_INLINE {t} {t}_backwards(const {dtype.c_name} *p) {{\n{load}\n}}\n"
            ),
            self.text(
                f"{t}_put_backwards", f"WB_INLINE void {t}_put_backwards({dtype.c_name} *p, {t} x) {{\n{store}\n}}\n"
            ),
        )

    def put_in_turn(self, dtype: DType, lanes: int) -> str:
        """Function that stores the lanes of two vectors in turn: a, b, a, b, ..."""
        t, half = self.type(dtype, lanes), lanes // 2
        lines = []
        for start in (0, half):
            order = ", ".join(f"{start + i}, {lanes + start + i}" for i in range(half))
            lines.append(f"    *({t}_u *)(p + {2 * start}) = __builtin_shufflevector(a, b, {order});")
        text = f"WB_INLINE void {t}_put_in_turn({dtype.c_name} *p, {t} a, {t} b) {{\n" + "\n".join(lines) + "\n}\n"
        return self.text(f"{t}_put_in_turn", text)

    def iota(self, lanes: int) -> str:
        """The int32 vector 0, 1, 2, ..."""
        t = self.type(INT32, lanes)
        values = ", ".join(map(str, range(lanes)))
        return self.text(f"{t}_iota", f"WB_INLINE {t} {t}_iota(void) {{\n    return ({t}){{{values}}};\n}}\n")

    def select(self, dtype: DType, lanes: int) -> str:
        """Function `select(mask, a, b)`: bit by bit."""
        if dtype.is_half or dtype.kind == "bool":
            return self.select(UINT16 if dtype.is_half else UINT8, lanes)
        name = self.vector("select", dtype, lanes)
        assert name is not None
        return name
