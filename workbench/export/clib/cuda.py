"""The CUDA side of a C library: the kernels of each schedule for a GPU in a file of their own, and what starts them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen import Kernel, generate
from workbench.codegen.cuda.grid.launch_extents import GRID_LIMITS
from workbench.codegen.cuda.grid.launches import Amount, Argument, Clear, Launch, Repeat, Step, each_launch
from workbench.export.dispatch import Family, Variant
from workbench.export.dispatch.family import always, described
from workbench.export.dispatch.size_code import SizeCode
from workbench.export.dispatch.units import ALWAYS
from workbench.lang.expr import Expr
from workbench.records import record
from workbench.schedules import autoschedule
from workbench.settings import current
from workbench.target import Target

FREE_SHARED_BYTES = 48 << 10
FIELDS = {"float": "real", "int": "integer", "bool": "integer", "uint": "natural"}


@record(eq=False)
class CudaUnit:
    """One kernel for GPUs: its number, what it is for in words, the condition on sizes beside the bound ones."""

    number: int
    title: str
    kernel: Kernel
    condition: Expr

    @property
    def name(self) -> str:
        return f"cuda_{self.number}"


def cuda_units(family: Family, variants: Sequence[Variant], target: Target) -> list[CudaUnit]:
    """The kernels in the order in which they are tried: schedules, then the recipe's for all sizes."""
    omit = current().unchecked
    found = [(str(v), generate(v.schedule, target, unchecked=omit, unsafe=v.unsafe), v.condition) for v in variants]
    for program in family.fallbacks:
        kernel = generate(autoschedule(program, target), target, unchecked=omit)
        found.append((described(program.sizes), kernel, ALWAYS))
    return [CudaUnit(n, f"cuda: {title}", kernel, condition) for n, (title, kernel, condition) in enumerate(found)]


def unit_text(unit: CudaUnit, family: Family) -> str:
    """The `.cu` of one kernel: its text, and the function that starts it on a stream."""
    code = SizeCode(family)
    functions = dict.fromkeys(launch.name for launch in each_launch(unit.kernel.launches))
    renamed = "".join(f"#define {name} wb_{unit.name}_{name}\n" for name in functions)
    body = Launcher(unit.kernel, family, code).text()
    sizes = [f"s[{code.place(n)}] == {v}" for n, v in unit.kernel.sizes.items()]
    condition = [] if always(unit.condition) else [f"({code.text(unit.condition)})"]
    fits = f"{code.known(unit.condition)}    return {' && '.join([*sizes, *condition]) or '1'};\n"
    helpers = code.helper_texts().replace("#define WB_INLINE static inline __attribute__((unused))\n", "")
    return (
        f"{renamed}{unit.kernel.source}\n#include <cuda_runtime.h>\n\n"
        f'extern "C" {{\n#include "dispatch.h"\n}}\n\n#undef WB_INLINE\n#define WB_INLINE static inline\n\n'
        f"namespace wb_host_side {{\n\n{helpers}\n"
        f"static int fits(const int64_t *s)\n{{\n    (void)s;\n{fits}}}\n\n{body}\n}}  // namespace wb_host_side\n\n"
        f'extern "C" int wb_{unit.name}_fits(const int64_t *s)\n{{\n    return wb_host_side::fits(s);\n}}\n\n'
        f'extern "C" int wb_{unit.name}_run(void *const *data, const wb_border_value *values, const int64_t *s, '
        f"cudaStream_t stream, int *checked)\n{{\n"
        "    return (int)wb_host_side::run(data, values, s, stream, checked);\n}\n"
    )


class Launcher:
    """Writes the function that carries out the launches of a kernel, one after another, on a stream."""

    def __init__(self, kernel: Kernel, family: Family, code: SizeCode) -> None:
        self.kernel, self.family, self.code = kernel, family, code
        self.places = {name: n for n, name in enumerate((*family.inputs, *family.op.outputs))}
        self.offsets = {b.array: b for b in kernel.buffers}
        every = [a for launch in each_launch(kernel.launches) for a in launch.arguments]
        self.reports = any(a.kind == "status" for a in every)

    def text(self) -> str:
        """`run`: answers a cudaError_t; the number of a check that failed is left in `checked`."""
        names = {n: self.code.names("size", n) for n in self.kernel.signature.symbols}
        symbols = ", ".join(f"{name} = s[{self.code.place(n)}]" for n, name in names.items())
        head = [f"const int64_t {symbols};"] if symbols else []
        used = "".join(f"(void){name}; " for name in names.values())
        total = self._amount(self.kernel.signature.workspace or 0)
        lines = [
            *head, f"{used}(void)data; (void)values; (void)s;",
            f"const size_t bytes = (size_t)({total});",
            "unsigned char *workspace = NULL;",
            "cudaError_t error = cudaSuccess;",
            "*checked = 0;",
            "if (bytes) error = cudaMallocAsync((void **)&workspace, bytes, stream);",
            *self._status_begins(), *self._zeroed(),
            *(line for step in self.kernel.launches for line in self._step(step)),
            *self._status_ends(),
            "if (workspace) cudaFreeAsync(workspace, stream);",
            "return error;",
        ]  # fmt: skip
        body = "".join(f"    {line}\n" for line in lines)
        return (
            "static cudaError_t run(void *const *data, const wb_border_value *values, const int64_t *s, "
            f"cudaStream_t stream, int *checked)\n{{\n{body}}}\n"
        )

    def _amount(self, value: Amount) -> str:
        return str(value) if isinstance(value, int) else self.code.text(value)

    def _status_begins(self) -> list[str]:
        if not self.reports:
            return []
        return [
            "int *status = NULL;",
            "if (!error) error = cudaMallocAsync((void **)&status, 2 * sizeof(int), stream);",
            "if (!error) error = cudaMemsetAsync(status, 0, 2 * sizeof(int), stream);",
        ]

    def _status_ends(self) -> list[str]:
        """What the kernels found is known when they have ended: a call with checks waits for its stream."""
        if not self.reports:
            return []
        return [
            "int found[2] = {0, 0};",
            "if (!error) error = cudaMemcpyAsync(found, status, sizeof found, cudaMemcpyDeviceToHost, stream);",
            "if (!error) error = cudaStreamSynchronize(stream);",
            "if (status) cudaFreeAsync(status, stream);",
            "*checked = found[0] ? found[0] : found[1];",
        ]

    def _zeroed(self) -> list[str]:
        lines = []
        for array in self.kernel.signature.outputs:
            if array.zero_fill:
                cells = " * ".join(f"({self.code.text(e)})" for e in array.shape) or "1"
                size = f"(size_t)({cells} * {array.dtype.bytes})"
                place = self.places[array.name]
                lines.append(f"if (!error) error = cudaMemsetAsync(data[{place}], 0, {size}, stream);")
        return lines

    def _step(self, step: Step) -> list[str]:
        match step:
            case Clear(array, size):
                at = f"workspace + ({self._amount(self.offsets[array].offset)})"
                return [f"if (!error) error = cudaMemsetAsync({at}, 0, (size_t)({self._amount(size)}), stream);"]
            case Repeat(variable, lower, upper, body, by):
                name = self.code.names("index", variable)
                inner = [f"    {line}" for part in body for line in self._step(part)]
                first, end = self._amount(lower), self._amount(upper)
                return [f"for (int64_t {name} = {first}; {name} < {end}; {name} += {by}) {{", *inner, "}"]
            case Launch():
                return self._launch(step)

    def _launch(self, step: Launch) -> list[str]:
        grid = [self._amount(e) for e in step.grid]
        arguments = ", ".join(map(self._argument, step.arguments))
        within = " && ".join(f"wb_grid[{n}] <= {most}" for n, most in enumerate(GRID_LIMITS))
        lines = [
            f"const int64_t wb_grid[] = {{{', '.join(grid)}}}, wb_shared = {self._amount(step.shared_bytes)};",
            "if (!error && wb_grid[0] > 0 && wb_grid[1] > 0 && wb_grid[2] > 0) {",
            f"    if (!({within})) error = cudaErrorInvalidConfiguration;",
            f"    if (!error && wb_shared > {FREE_SHARED_BYTES})",
            f"        error = cudaFuncSetAttribute({step.name},",
            "                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)wb_shared);",
            "    const dim3 wb_blocks((unsigned)wb_grid[0], (unsigned)wb_grid[1], (unsigned)wb_grid[2]);",
            f"    const dim3 wb_threads({', '.join(map(str, step.block))});",
            f"    if (!error) {step.name}<<<wb_blocks, wb_threads, (size_t)wb_shared, stream>>>({arguments});",
            "    if (!error) error = cudaGetLastError();",
            "}",
        ]
        return ["{", *(f"    {line}" for line in lines), "}"]

    def _argument(self, argument: Argument) -> str:
        kind = f"{argument.dtype.c_name} *"
        pointer = kind if argument.written else f"const {kind}"
        match argument.kind:
            case "array":
                return f"({pointer})data[{self.places[argument.name]}]"
            case "workspace":
                return f"({kind})(workspace + ({self._amount(self.offsets[argument.name].offset)}))"
            case "scalar":
                field = "natural" if argument.dtype.is_half else FIELDS[argument.dtype.kind]
                return f"({argument.dtype.c_name})values[{self.places[argument.name]}].{field}"
            case "size":
                return self.code.names("size", argument.name)
            case "loop":
                return self.code.names("index", argument.name)
            case "status":
                return "status"
