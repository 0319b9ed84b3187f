"""The C that starts the launches of one kernel through NVIDIA's driver, on the stream of a call."""

from __future__ import annotations

from workbench.codegen import Kernel
from workbench.codegen.cuda.grid.launches import Amount, Argument, Clear, Launch, Repeat, Step, each_launch
from workbench.export.dispatch import Family, Unit
from workbench.export.dispatch.size_code import SizeCode, quoted
from workbench.runtime.gpu.launching import STATUS_BYTES
from workbench.runtime.kernels.border import value_field

ALIGNMENT = 256
_RUN = (
    "static int64_t wb_run(void *const *wb_data, const wb_border_value *wb_values, const int64_t *wb_s, "
    "void *wb_space, int wb_threads)"
)


def launcher_text(unit: Unit, family: Family) -> str:
    """The C file of a kernel: its functions by name, its workspace, and what starts its launches in order."""
    return Launcher(unit.kernel, family, unit.name).text()


def kernel_functions(kernel: Kernel) -> tuple[str, ...]:
    """The `__global__` functions that a kernel starts."""
    return tuple(dict.fromkeys(launch.name for launch in each_launch(kernel.launches)))


class Launcher:
    """Writes the file; names of the user's cannot begin with `wb_`, so that they are no others'."""

    def __init__(self, kernel: Kernel, family: Family, name: str) -> None:
        self.kernel, self.name, self.code = kernel, name, SizeCode(family)
        self.places = {each: n for n, each in enumerate((*family.inputs, *family.op.outputs))}
        self.offsets = {b.array: b for b in kernel.buffers}
        self.functions = kernel_functions(kernel)
        every = (a for launch in each_launch(kernel.launches) for a in launch.arguments)
        self.reports = any(a.kind == "status" for a in every)

    def text(self) -> str:
        """The whole file."""
        run, space = self._run(), self._workspace()
        rows = ", ".join(f"{{{quoted(each)}, NULL}}" for each in self.functions) or "{NULL, NULL}"
        return (
            f'#include "gpu.h"\n\n{self.code.helper_texts()}\n'
            f"wb_gpu_function wb_functions_{self.name}[] = {{{rows}}};\n\n{space}\n{run}\n"
            f"const wb_code wb_code_{self.name} = {{wb_run, wb_bytes}};\n"
        )

    def _workspace(self) -> str:
        """Bytes of the temporaries, then the words of the checks."""
        lines = [*self._symbols(), "(void)wb_threads;", f"return {self._status_at()} + {STATUS_BYTES * self.reports};"]
        return _function("static int64_t wb_bytes(const int64_t *wb_s, int wb_threads)", lines)

    def _status_at(self) -> str:
        total = self._amount(self.kernel.signature.workspace or 0)
        return f"(({total}) + {ALIGNMENT - 1}) / {ALIGNMENT} * {ALIGNMENT}" if self.reports else f"(int64_t)({total})"

    def _run(self) -> str:
        words = f"int *wb_status = (int *)((char *)wb_space + {self._status_at()});" if self.reports else ""
        lines = [
            *self._symbols(), "(void)wb_data; (void)wb_values; (void)wb_space; (void)wb_threads;",
            *([words, f"wb_gpu_clear(wb_status, {STATUS_BYTES});"] if words else []),
            *(line for step in self.kernel.launches for line in self._step(step)),
            "return wb_gpu_status(wb_status);" if words else "return 0;",
        ]  # fmt: skip
        return _function(_RUN, lines)

    def _symbols(self) -> list[str]:
        """The kernel's own symbols, in its order."""
        names = [self.code.names("size", n) for n in self.kernel.signature.symbols]
        declared = [f"const int64_t {name} = wb_s[{n}]; (void){name};" for n, name in enumerate(names)]
        return [*declared, "(void)wb_s;"]

    def _amount(self, value: Amount) -> str:
        return str(value) if isinstance(value, int) else self.code.text(value)

    def _step(self, step: Step) -> list[str]:
        match step:
            case Clear(array, size):
                return [f"wb_gpu_clear({self._at(array)}, {self._amount(size)});"]
            case Repeat(variable, lower, upper, body, by):
                name = self.code.names("index", variable)
                inner = [f"    {line}" for part in body for line in self._step(part)]
                first, end = self._amount(lower), self._amount(upper)
                return [f"for (int64_t {name} = {first}; {name} < {end}; {name} += {by}) {{", *inner, "}"]
            case Launch():
                return self._launch(step)

    def _at(self, array: str) -> str:
        return f"(char *)wb_space + ({self._amount(self.offsets[array].offset)})"

    def _launch(self, step: Launch) -> list[str]:
        values = [f"{kind} wb_{n} = {value};" for n, (kind, value) in enumerate(map(self._argument, step.arguments))]
        pointers = ", ".join(f"(void *)&wb_{n}" for n in range(len(values))) or "NULL"
        lines = [
            *values, f"void *wb_arguments[] = {{{pointers}}};",
            f"const int64_t wb_grid[] = {{{', '.join(self._amount(e) for e in step.grid)}}};",
            f"const unsigned wb_block[] = {{{', '.join(map(str, step.block))}}};",
            f"wb_gpu_launch(&wb_functions_{self.name}[{self.functions.index(step.name)}], wb_grid, wb_block, "
            f"{self._amount(step.shared_bytes)}, wb_arguments);",
        ]  # fmt: skip
        return ["{", *(f"    {line}" for line in lines), "}"]

    def _argument(self, argument: Argument) -> tuple[str, str]:
        """(type, value) as the kernel takes it."""
        match argument.kind:
            case "array":
                return "void *", f"wb_data[{self.places[argument.name]}]"
            case "workspace":
                return "void *", self._at(argument.name)
            case "scalar":
                kind, field = argument.dtype.c_name, value_field(argument.dtype)
                return kind, f"({kind})wb_values[{self.places[argument.name]}].{field}"
            case "size":
                return "int64_t", self.code.names("size", argument.name)
            case "loop":
                return "int64_t", self.code.names("index", argument.name)
            case "status":
                return "void *", "wb_status"


def _function(head: str, lines: list[str]) -> str:
    return f"{head}\n{{\n{''.join(f'    {line}{chr(10)}' for line in lines)}}}\n"
