"""Writes as C: scalar, in lanes, and through registers."""

from __future__ import annotations

from workbench.codegen.c.expressions.lanes import Lanes, address_stride
from workbench.codegen.c.expressions.nontemporal_stores import store_nontemporal
from workbench.codegen.c.expressions.partial_vectors import has_masks, put_first
from workbench.codegen.c.expressions.values import Values, cell_text
from workbench.codegen.nest.nest import Cell, Local, Write
from workbench.lang.dtypes import BOOL, FLOAT32, INT32, UINT8, UINT16, DType
from workbench.lang.expr import Expr, Read, reads, transform
from workbench.lang.operator import Monoid
from workbench.poly.programs.addresses import address


def scalar_write(values: Values, write: Write) -> list[str]:
    """Lines that execute the write for one instance."""
    cells = [cell_text(values, c) for c in write.cells]
    texts = [values.text(v) for v in write.values]
    match write.reduction:
        case None:
            return [f"{c} = {t};" for c, t in zip(cells, texts, strict=True)]
        case Monoid() as monoid:
            return joined_tuple(values, monoid, cells, texts, [c.dtype for c in write.cells])
        case reduction if write.atomic and values.threads:
            return atomic_update(values, reduction, cells[0], parenthesised(texts[0]), write.cells[0].dtype)
        case reduction:
            return [values.combine(reduction, cells[0], parenthesised(texts[0]), write.cells[0].dtype)]


def parenthesised(text: str) -> str:
    """A conditional expression needs parentheses as an operand."""
    return f"({text})" if "?" in text else text


def joined_tuple(values: Values, monoid: Monoid, cells: list[str], texts: list[str], dtypes: list[DType]) -> list[str]:
    """Lines that combine a tuple into its cells, every field from the old fields."""
    left = _declare(values, monoid.left, cells, dtypes, "wb_a")
    right = _declare(values, monoid.right, texts, dtypes, "wb_b")
    body = [f"{c} = {values.text(e)};" for c, e in zip(cells, operand_reads(monoid), strict=True)]
    return ["{", *(f"    {line}" for line in (*left, *right, *body)), "}"]


def _declare(values: Values, names: tuple[str, ...], texts: list[str], dtypes: list[DType], prefix: str) -> list[str]:
    """One constant for each field of an operand."""
    lines = []
    for name, text, dtype in zip(names, texts, dtypes, strict=True):
        variable = f"{prefix}_{name}"
        values.names.given[("array", f"{prefix}.{name}")] = variable
        values.by_value.add(f"{prefix}.{name}")
        lines.append(f"const {dtype.c_name} {variable} = {text};")
    return lines


def operand_reads(monoid: Monoid) -> list[Expr]:
    """The combination with its operands named as the declared constants."""
    places = {n: f"wb_a.{n}" for n in monoid.left} | {n: f"wb_b.{n}" for n in monoid.right}

    def rename(node: Expr) -> Expr:
        if isinstance(node, Read) and not node.subscripts and node.tensor in places:
            return Read(places[node.tensor], (), node.dtype)
        return node

    return [transform(e, rename) for e in monoid.combine]


def lane_write(lanes: Lanes, write: Write) -> list[str]:
    """Lines that execute the write for all lanes."""
    values = lanes.values
    held = [held_local(values, c) for c in write.cells]
    if isinstance(write.reduction, Monoid):
        return lane_tuple(lanes, write, write.reduction, held)
    cell, local = write.cells[0], held[0]
    vector = stored(lanes, write.values[0], cell.dtype)
    if write.reduction is None:
        pairs = zip(write.cells, write.values, strict=True)
        return [line for c, v in pairs for line in store_lanes(lanes, c, v, past=write.nontemporal)]
    if local is not None:
        return [combined_cell(lanes, write.reduction, values.register(local), vector, cell.dtype)]
    if write.atomic:
        return by_lanes(lanes, write)
    step = address_stride(values, cell.array, cell.subscripts, lanes.lane.variable)
    if step != 1 or cell.dtype.is_half or cell.dtype == BOOL:
        return by_lanes(lanes, write)
    if lanes.lane.limit is not None:
        return _first_combined(lanes, write) if has_masks(cell.dtype, lanes.lane.count) else by_lanes(lanes, write)
    name = lanes.type(cell.dtype)
    target = f"*({name}_u *)&{values.element(cell.array, cell.subscripts)}"
    return [combined_cell(lanes, write.reduction, target, vector, cell.dtype)]


def _first_combined(lanes: Lanes, write: Write) -> list[str]:
    """The cells of the lanes that exist, combined with the value."""
    cell, reduction = write.cells[0], write.reduction
    assert isinstance(reduction, str)
    place, count = lanes.values.element(cell.array, cell.subscripts), lanes.lane.count
    old, vector = lanes.first(cell.dtype, place), lanes.vector(write.values[0])
    plain = reduction in ("+", "*")
    new = f"{old} {reduction} {vector}" if plain else (
        f"{lanes.values.helpers.vector(reduction, cell.dtype, count)}({old}, {vector})"
    )  # fmt: skip
    put = put_first(lanes.values.helpers, cell.dtype, count)
    return [f"{put}(&{place}, {new}, {lanes.values.text(lanes.lane.present)});"]


def held_local(values: Values, cell: Cell) -> Local | None:
    """The vector registers that stand for the cell, if any."""
    return next((x for x in values.held if x.cell == cell and x.lanes > 1), None)


def combined_cell(lanes: Lanes, reduction: str, target: str, vector: str, dtype: DType) -> str:
    """`target op= vector;`."""
    if reduction in ("+", "*"):
        return f"{target} {reduction}= {vector};"
    name = lanes.values.helpers.vector(reduction, dtype, lanes.lane.count)
    return f"{target} = {name}({target}, {vector});"


def stored(lanes: Lanes, value: Expr, dtype: DType) -> str:
    """The value as a vector of the cell's stored type."""
    if dtype != BOOL:
        return lanes.vector(value)
    bits = f"({lanes.mask(value, 32)} & 1)"
    return lanes.converted(bits, INT32, UINT8)


def stored_type(dtype: DType) -> DType:
    """The type whose vectors are stored for elements of a type."""
    if dtype == BOOL:
        return UINT8
    return UINT16 if dtype.is_half else dtype


def stored_in_turn(lanes: Lanes, first: Write, second: Write) -> list[str]:
    """Lines that store two writes together that fill every second cell each; none where they are no such pair."""
    values, variable = lanes.values, lanes.lane.variable
    if any(w.reduction is not None or len(w.cells) != 1 or w.nontemporal for w in (first, second)):
        return []
    (a,), (b,) = first.cells, second.cells
    if a.array != b.array or any(r.tensor == a.array for r in reads(*first.values, *second.values)):
        return []
    if lanes.lane.limit is not None or held_local(values, a) is not None or held_local(values, b) is not None:
        return []
    if any(address_stride(values, c.array, c.subscripts, variable) != 2 for c in (a, b)):
        return []
    distance = address(values.arrays[a.array], b.subscripts) - address(values.arrays[a.array], a.subscripts)
    if distance.constant not in (1, -1):
        return []
    pairs = [(a, first.values[0]), (b, second.values[0])][:: distance.constant]
    texts = [stored(lanes, value, cell.dtype) for cell, value in pairs]
    put = values.helpers.put_in_turn(stored_type(a.dtype), lanes.lane.count)
    return [f"{put}(&{values.element(a.array, pairs[0][0].subscripts)}, {', '.join(texts)});"]


def store_lanes(lanes: Lanes, cell: Cell, value: Expr, *, past: bool = False) -> list[str]:
    """Lines that store one value per lane, `past` the caches if there is a way."""
    values = lanes.values
    local = held_local(values, cell)
    if local is not None:
        return [f"{values.register(local)} = {stored(lanes, value, cell.dtype)};"]
    step = address_stride(values, cell.array, cell.subscripts, lanes.lane.variable)
    memory = stored_type(cell.dtype)
    if step == -1 and lanes.lane.limit is None:
        put, place = values.helpers.backwards(memory, lanes.lane.count)[1], values.element(cell.array, cell.subscripts)
        return [f"{put}(&{place}, {stored(lanes, value, cell.dtype)});"]
    if step != 1:
        return by_lanes(lanes, Write("", (cell,), (value,)))
    if lanes.lane.limit is not None:
        if not has_masks(memory, lanes.lane.count):
            return by_lanes(lanes, Write("", (cell,), (value,)))
        put, place = put_first(values.helpers, memory, lanes.lane.count), values.element(cell.array, cell.subscripts)
        return [f"{put}(&{place}, {stored(lanes, value, cell.dtype)}, {values.text(lanes.lane.present)});"]
    name, place = lanes.type(memory), values.element(cell.array, cell.subscripts)
    vector = stored(lanes, value, cell.dtype)
    beyond = store_nontemporal(values.helpers, memory, lanes.lane.count) if past else None
    return [f"{beyond}(&{place}, {vector});" if beyond else f"*({name}_u *)&{place} = {vector};"]


def by_lanes(lanes: Lanes, write: Write) -> list[str]:
    """A scalar loop over the lanes."""
    lanes.slow += 1
    moved = Write(
        write.statement,
        tuple(Cell(c.array, tuple(map(lanes.at_lane, c.subscripts)), c.dtype) for c in write.cells),
        tuple(map(lanes.at_lane, write.values)),
        write.reduction,
        atomic=write.atomic,
    )
    body = scalar_write(lanes.values, moved)
    return [f"{lanes.lane_loop()} {{", *(f"    {x}" for x in body), "}"]


def lane_tuple(lanes: Lanes, write: Write, monoid: Monoid, held: list[Local | None]) -> list[str]:
    """A tuple reduction in lanes, its fields in registers or in neighbouring cells."""
    values = lanes.values
    lines, fields = [], []
    for cell, local, name in zip(write.cells, held, monoid.left, strict=True):
        if local is None:
            return by_lanes(lanes, write)
        fields.append((f"wb_a.{name}", cell.dtype, f"wb_a_{name}", values.register(local)))
    for value, name, dtype in zip(write.values, monoid.right, monoid.dtypes, strict=True):
        fields.append((f"wb_b.{name}", dtype, f"wb_b_{name}", lanes.vector(value)))
    if any(d.is_half or d == BOOL for _, d, _, _ in fields):
        return by_lanes(lanes, write)
    saved = list(values.held)
    for place, dtype, variable, text in fields:
        lines.append(f"const {lanes.type(dtype)} {variable} = {text};")
        values.names.given["register", variable] = variable
        values.held.append(Local(variable, Cell(place, (), dtype), (), lanes.lane.count, lanes.lane.variable))
    results = [lanes.vector(e) for e in operand_reads(monoid)]
    values.held[:] = saved
    lines += [f"{values.register(x)} = {r};" for x, r in zip(held, results, strict=True) if x is not None]
    return ["{", *(f"    {line}" for line in lines), "}"]


# -- Atomic updates: a pragma where OpenMP has one for it, else a loop that tries until nobody came between --

NAMES = {"+": "add", "*": "multiply"}


def atomic_update(values: Values, reduction: str, cell: str, text: str, dtype: DType) -> list[str]:
    """Lines that combine a value with a cell that other threads may be updating."""
    plain = reduction in NAMES and not dtype.is_half and dtype.kind != "bool"
    if values.threads == "openmp" and plain and cell not in text:  # OpenMP forbids a value that looks at the cell
        return ["#pragma omp atomic", f"{cell} {reduction}= {text};"]
    return [f"{_helper(values, reduction, dtype)}(&{cell}, {text});"]


def _helper(values: Values, reduction: str, dtype: DType) -> str:
    """Name of the function, noted as used.  gcc and clang (and what is built on it) know these builtins."""
    stored = "uint16_t" if dtype.is_half else dtype.c_name
    name = f"wb_atomic_{NAMES.get(reduction, reduction)}_{dtype.name}"
    if dtype.is_half:
        up, down = values.helpers.conversion(dtype, FLOAT32), values.helpers.conversion(FLOAT32, dtype)
        combined = f"{down}({values.joined(reduction, f'{up}(old)', f'{up}(value)', FLOAT32)})"
    else:
        combined = f"({stored})({values.joined(reduction, 'old', 'value', dtype)})"
    relaxed = "__ATOMIC_RELAXED"
    return values.helpers.text(
        name,
        f"WB_INLINE void {name}({stored} *cell, {stored} value) {{\n"
        f"    {stored} old, next;\n"
        f"    __atomic_load(cell, &old, {relaxed});\n"
        f"    do next = {combined};\n"
        f"    while (!__atomic_compare_exchange(cell, &old, &next, 1, {relaxed}, {relaxed}));\n"
        "}\n",
    )
