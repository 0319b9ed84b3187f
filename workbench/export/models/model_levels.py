"""What a model has for each instruction set level, as tables of C: kernels, what they take, what packs constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from workbench.export.dispatch.front import index_message
from workbench.export.dispatch.size_code import quoted
from workbench.export.models.model_units import LevelKernel, ModelKernels, Packer
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import OperatorCall
from workbench.records import record
from workbench.runtime.kernels.border import parameter_row

PACKED_ALIGNMENT = 128


def levels_of_model(program: Program, kernels: ModelKernels) -> str:
    """`wb_model_levels`, one row a level."""
    texts, rows = list[str](), list[str]()
    for at, level in enumerate(kernels.levels):
        made = Layout(program, kernels, at)
        every = [kernel.levels[at] for kernel in kernels.kernels]
        end = f"_{level.name}"
        texts += [_externs(every), *(_kernel(each) for each in every)]
        texts += [
            constant_table("wb_code *", f"wb_codes{end}", (f"&wb_code_{each.unit.name}" for each in every)),
            constant_table("wb_model_kernel", f"wb_taking{end}", map(_row, every)),
            constant_table("int", f"wb_first{end}", map(str, made.first)),
            constant_table("int", f"wb_places{end}", map(str, made.places)),
            constant_table("wb_model_packing", f"wb_packings{end}", made.rows()),
        ]
        names = ", ".join(f"wb_{name}{end}" for name in ("codes", "taking", "first", "places", "packings"))
        rows.append(f"{{{names}, {len(made.packings)}, {made.bytes}}}")
    return "".join(texts) + constant_table("wb_model_level", "wb_model_levels", rows)


@record(eq=False)
class Layout:
    """The slots that the steps take at one level, one after another; `first` says where each step's begin.

    Packed constants have the slots after all others; equal ones are packed once.
    """

    program: Program
    kernels: ModelKernels
    at: int
    first: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    packings: dict[tuple[str, int], tuple[Packer, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for call, step in self.program.stepped:
            self.first.append(len(self.places))
            self._add(call, self.kernels.kernels[self.kernels.numbers[step.key]].levels[self.at])

    @property
    def bytes(self) -> int:
        """Of all packed constants."""
        return sum(_rounded(packer.bytes) for packer, _ in self.packings.values())

    def rows(self) -> list[str]:
        """The kernel that packs, the constant's number among the constants, where the packed one begins."""
        found, begin = list[str](), 0
        for packer, constant in self.packings.values():
            found.append(f"{{&wb_code_{packer.unit.name}, {constant}, {begin}}}")
            begin += _rounded(packer.bytes)
        return found

    def _add(self, call: OperatorCall, kernel: LevelKernel) -> None:
        values = {**call.inputs, **dict(zip(call.op.outputs, call.results, strict=True))}
        for name in kernel.parameters:
            if name in values:
                self.places.append(self.program.slot_of(values[name]))
                continue
            packer = kernel.packers[name]
            source = self.program.slot_of(values[packer.source])
            self.packings.setdefault((packer.unit.name, source), (packer, source - self._constants))
            number = list(self.packings).index((packer.unit.name, source))
            self.places.append(self._constants + len(self.program.plain) + number)

    @property
    def _constants(self) -> int:
        """The slot of the first constant."""
        program = self.program
        return len(program.recording.inputs) + len(program.storage.results) + len(program.inside)


def _rounded(count: int) -> int:
    return -(-count // PACKED_ALIGNMENT) * PACKED_ALIGNMENT


def _externs(kernels: Iterable[LevelKernel]) -> str:
    return "".join(f"extern const wb_code wb_code_{unit.name};\n" for each in kernels for unit in each.units)


def _kernel(kernel: LevelKernel) -> str:
    signature, name = kernel.unit.kernel.signature, kernel.unit.name
    rows = ", ".join(parameter_row(p) for p in (*signature.inputs, *signature.outputs)) or "{0, 1, 0, 0}"
    checks = ", ".join(quoted(index_message(check)) for check in signature.checks) or '""'
    return (
        f"static const wb_border_parameter wb_parameters_{name}[] = {{{rows}}};\n"
        f"static const char *const wb_checks_{name}[] = {{{checks}}};\n"
    )


def _row(kernel: LevelKernel) -> str:
    signature, name = kernel.unit.kernel.signature, kernel.unit.name
    return f"{{wb_parameters_{name}, {len(kernel.parameters)}, {len(signature.checks)}, wb_checks_{name}}}"


def constant_table(kind: str, name: str, rows: Iterable[str]) -> str:
    """An array of constants; one that is all zeros where there are no rows."""
    inside = "".join(f"    {row},\n" for row in rows) or "    {0},\n"
    constant = "const " if kind.endswith("*") else ""
    return f"static const {kind}{' ' * (not constant)}{constant}{name}[] = {{\n{inside}}};\n"
