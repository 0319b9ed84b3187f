"""The C of a model beside its kernels: the tables that model.c walks, the public functions."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.export.dispatch.front import dlpack_code, levels_text
from workbench.export.dispatch.size_code import quoted
from workbench.export.models.model_headers import declared, declared_tensors, made_for
from workbench.export.models.model_interface import ModelInterface
from workbench.export.models.model_levels import constant_table, levels_of_model
from workbench.export.models.model_units import ModelKernels
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Value, flat

WEIGHT_ALIGNMENT = 64


def weights_of(program: Program) -> tuple[bytes, list[int]]:
    """The constants one after another, and where each begins."""
    made, offsets = bytearray(), []
    for value in program.plain:
        made += bytes(-len(made) % WEIGHT_ALIGNMENT)
        offsets.append(len(made))
        assert value.array is not None
        made += value.array.tobytes()
    return bytes(made), offsets


_WEIGHTS = """/* The weights, as they stand in the file beside this one. */

#if defined(__APPLE__)
#define WB_BEGIN ".const_data\\n.balign {align}\\n.globl _wb_weights{key}\\n_wb_weights{key}:\\n"
#define WB_END ".text\\n"
#else
#define WB_BEGIN ".pushsection .rodata\\n.balign {align}\\n.globl wb_weights{key}\\n" \\
    ".hidden wb_weights{key}\\nwb_weights{key}:\\n"
#define WB_END ".popsection\\n"
#endif

__asm__(WB_BEGIN ".incbin \\"{name}.weights\\"\\n.byte 0\\n" WB_END);
"""


def weights_text(name: str, key: str = "") -> str:
    """The C file that holds the weights: the assembler takes them from the file `<name>.weights` beside it."""
    return _WEIGHTS.format(name=name, key=key, align=WEIGHT_ALIGNMENT)


def model_text(interface: ModelInterface, kernels: ModelKernels) -> str:
    """The file that defines the model's tables and its public functions."""
    head = f'/* {interface.name}: its kernels in order, where arrays lie, and its functions. */\n\n#include "model.h"\n'
    levels = levels_text([(level, 0) for level in kernels.levels])
    tables = tables_text(interface, kernels, levels)
    return "\n".join([f'{head}#include "{interface.name}.h"\n', tables, _functions(interface)])


def tables_text(interface: ModelInterface, kernels: ModelKernels, levels: str, key: str = "") -> str:
    """`wb_the_model` with all its tables; `levels` is the text that chooses one, `key` ends what the linker sees."""
    program = interface.program
    parts = [
        f"extern const unsigned char wb_weights{key}[];\n", levels_of_model(program, kernels), levels,
        _ports(interface), _steps(program, kernels), _storage(interface), _model(interface, kernels, key),
    ]  # fmt: skip
    return "\n".join(parts)


# -- steps and memory


def _steps(program: Program, kernels: ModelKernels) -> str:
    rows = []
    for (call, kernel), (_, _, _, _, begin, end, *_) in zip(program.stepped, program.steps, strict=True):
        name = quoted(f"{call.op.name} ({call.label})" if call.label else call.op.name)
        rows.append(f"{{{name}, {kernels.numbers[kernel.key]}, {begin}, {end}}}")
    copies = [f"{{{to}, {source}, {count}}}" for to, source, count in program.copies]
    return constant_table("wb_model_step", "wb_steps", rows) + constant_table("wb_model_copy", "wb_copies", copies)


def _storage(interface: ModelInterface) -> str:
    program = interface.program
    arguments, at_end = _results(interface)
    offsets = [program.arena.offsets[value.name] for value in program.inside]
    return (
        constant_table("int", "wb_given_by", map(str, arguments))
        + constant_table("int64_t", "wb_offsets", map(str, offsets))
        + constant_table("int64_t", "wb_constant_offsets", map(str, weights_of(program)[1]))
        + constant_table("wb_model_copy", "wb_at_end", (f"{{{to}, {source}, {count}}}" for to, source, count in at_end))
    )


def _ports(interface: ModelInterface) -> str:
    rows, shapes = [], []
    for number, port in enumerate(interface.ports):
        extents = ", ".join(map(str, port.shape)) or "0"
        shapes.append(f"static const int64_t wb_shape_{number}[] = {{{extents}}};\n")
        written = number >= len(interface.inputs)
        facts = (dlpack_code(port.dtype), port.dtype.bits, port.dtype.bytes, len(port.shape), written)
        rows.append(f"{{{quoted(port.name)}, {', '.join(str(int(each)) for each in facts)}, wb_shape_{number}}}")
    return "".join(shapes) + constant_table("wb_model_port", "wb_ports", rows)


def _results(interface: ModelInterface) -> tuple[list[int], list[tuple[int, int, int]]]:
    """The argument of each given slot; what is copied at the end: to an argument, from a slot, so many bytes.

    A result is written where it is asked for; one that is asked for twice, or is an input or a constant, is copied.
    """
    program, inputs = interface.program, len(interface.inputs)
    outputs: list[Value] = list(flat(program.recording.outputs))
    home: dict[int, int] = {}
    at_end = []
    count = len(program.recording.inputs)
    for number, value in enumerate(outputs):
        slot = program.slot_of(value)
        is_result = count <= slot < count + len(program.storage.results)
        if is_result and slot not in home:
            home[slot] = inputs + number
        else:
            at_end.append((inputs + number, slot, value.bytes))
    results = [home[count + at] for at in range(len(program.storage.results))]
    return [*interface.arguments, *results], at_end


def _model(interface: ModelInterface, kernels: ModelKernels, key: str) -> str:
    program = interface.program
    given = len(program.recording.inputs) + len(program.storage.results)
    at_end = len(_results(interface)[1])
    counts = (len(interface.ports), given, len(program.inside), len(program.plain), len(program.steps), at_end)
    return (
        "static int wb_level_of_model(void)\n{\n    return wb_level_number;\n}\n\nstatic char *wb_packed;\n\n"
        f"static const wb_model wb_the_model = {{\n    {quoted(interface.name)}, {', '.join(map(str, counts))},\n"
        f"    wb_ports, wb_given_by, wb_offsets, wb_constant_offsets, wb_weights{key}, "
        f"{program.arena.bytes},\n    wb_steps, wb_copies, wb_at_end, {len(kernels.kernels)},\n"
        "    wb_model_levels, wb_level_here, wb_level_of_model, &wb_packed\n};\n\n"
        "__attribute__((destructor)) static void wb_forget(void)\n{\n    wb_model_forget(&wb_the_model);\n}\n"
    )


# -- functions


def _functions(interface: ModelInterface) -> str:
    name, ports = interface.name, interface.ports
    pointers = ", ".join(f"(void *){p.c_name}" for p in ports)
    tensors = ", ".join(p.c_name for p in ports)
    return (
        f"WB_PUBLIC {declared(interface)}\n{{\n    void *const wb_given[] = {{{pointers}}};\n"
        f"    return wb_model_call(&wb_the_model, wb_given, memory);\n}}\n\n"
        f"WB_PUBLIC {declared_tensors(interface)}\n{{\n"
        f"    const workbench_tensor *const wb_given[] = {{{tensors}}};\n"
        "    return wb_model_call_tensors(&wb_the_model, wb_given);\n}\n\n"
        f"WB_PUBLIC int64_t {name}_bytes(void)\n{{\n    return wb_model_bytes(&wb_the_model);\n}}\n\n"
        f"WB_PUBLIC const char *{name}_message(void)\n{{\n    return wb_message();\n}}\n\n"
        f"WB_PUBLIC const char *{name}_kernel(void)\n{{\n    return {quoted(made_for(interface))};\n}}\n\n"
        f"WB_PUBLIC const char *{name}_isa(void)\n{{\n    const wb_level *level = wb_level_here();\n"
        '    return level ? level->name : "none";\n}\n\n'
        f"WB_PUBLIC void {name}_set_threads(int threads)\n{{\n    wb_model_set_threads(threads);\n}}\n"
    )


def kernel_titles(kernels: ModelKernels) -> Sequence[str]:
    """What each kernel is for."""
    named = [(kernel.call.op.name, level.unit.title) for kernel in kernels.kernels for level in kernel.levels]
    return [title.replace(":", f": {name},", 1) for name, title in named]
