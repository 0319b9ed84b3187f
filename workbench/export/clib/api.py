"""The public functions of a C library, as text: what they take, and how it reaches the dispatcher."""

from __future__ import annotations

from pathlib import Path

from workbench.codegen.c.pool import POOL
from workbench.export.dispatch import Family
from workbench.export.dispatch.front import untold
from workbench.export.dispatch.size_code import SizeCode
from workbench.lang.operator import Tensor
from workbench.records import record
from workbench.runtime.kernels.border import value_field

API_FILES = ("workbench.h", "api.h", "api.c")


def api_file(name: str) -> str:
    """The text of one of the files that are the same for all libraries."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@record
class Argument:
    """One argument of the plain function: its name and type in C, what it is, in words."""

    c_name: str
    c_type: str
    name: str
    about: str
    kind: str

    @property
    def declared(self) -> str:
        return f"{self.c_type}{'' if self.c_type.endswith('*') else ' '}{self.c_name}"


@record(eq=False)
class Interface:
    """The names and arguments of a family's functions in C."""

    family: Family
    function: str
    arguments: tuple[Argument, ...]

    def plain(self) -> str:
        """`int mm(const float *A, ..., int64_t M, ...)`."""
        return f"int {self.function}({', '.join(a.declared for a in self.arguments)})"

    def tensors(self) -> str:
        """`int mm_tensors(const workbench_tensor *A, ..., workbench_tensor *C)`."""
        told = set(self.family.op.size_names) - set(untold(self.family))
        parts = [self._tensor(a) if a.kind == "a" else a.declared for a in self.arguments if a.name not in told]
        return f"int {self.function}_tensors({', '.join(parts)})"

    def _tensor(self, argument: Argument) -> str:
        written = argument.name in self.family.op.outputs
        return f"{'' if written else 'const '}workbench_tensor *{argument.c_name}"


def interface_of(family: Family) -> Interface:
    """Arguments in the operator's order, then outputs, then sizes."""
    code = SizeCode(family)
    names, op = code.names, family.op
    function = names("function", op.name)
    found = []
    for name in (*op.parameters, *op.outputs, *op.size_names):
        if name in op.scalars or name in op.size_names:
            about = "a size" if name in op.size_names else "a whole number that shapes the result"
            found.append(Argument(names("size", name), "int64_t", name, about, "s"))
            continue
        tensor = op.tensors[name]
        if tensor.rank == 0 and tensor.role == "input":
            found.append(Argument(names("array", name), tensor.dtype.c_name, name, f"a number, {tensor.dtype}", "v"))
            continue
        written = "" if name in op.outputs else "const "
        about = f"{tensor.dtype}{_shape(tensor)}, {_role(tensor)}"
        found.append(Argument(names("array", name), f"{written}{tensor.dtype.c_name} *", name, about, "a"))
    return Interface(family, function, tuple(found))


def _shape(tensor: Tensor) -> str:
    from workbench.lang.printing.printer import show

    return f"[{', '.join(map(show, tensor.extent))}]"


def _role(tensor: Tensor) -> str:
    return {"input": "is read", "output": "is written", "inout": "is read and written"}[tensor.role]


def public_text(interface: Interface) -> str:
    """The C that defines the public functions; it stands at the end of the operator's file."""
    name = interface.function
    helpers = (
        f"WB_PUBLIC const char *{name}_message(void)\n{{\n    return wb_message();\n}}\n\n"
        f"WB_PUBLIC const char *{name}_kernel(void)\n{{\n    return wb_last_kernel();\n}}\n\n"
        f"WB_PUBLIC const char *{name}_isa(void)\n{{\n    const wb_level *level = wb_level_here();\n"
        '    return level ? level->name : "none";\n}\n\n'
        f"WB_PUBLIC void {name}_set_threads(int threads)\n{{\n    wb_set_threads(threads);\n}}\n"
    )
    return f'\n#include "api.h"\n#include "{interface.family.op.name}.h"\n\n' + "\n".join(
        [_plain(interface), _tensors(interface), helpers]
    )


def _plain(interface: Interface) -> str:
    call = "    return wb_call_dense(&wb_the_family, wb_data, wb_values, wb_sizes);\n"
    return f"WB_PUBLIC {interface.plain()}\n{{\n{taken_text(interface)}{call}}}\n"


def taken_text(interface: Interface) -> str:
    """What the plain function takes as arrays by parameter: `wb_sizes`, `wb_data`, `wb_values`."""
    places = {a.name: a for a in interface.arguments}
    sizes = ", ".join(places[n].c_name for n in interface.family.symbols) or "0"
    data = ", ".join(_pointer(places[n]) for n in _arrays(interface.family)) or "NULL"
    return (
        f"    const int64_t wb_sizes[] = {{{sizes}}};\n"
        f"    void *const wb_data[] = {{{data}}};\n{_values(interface)}"
    )


def _pointer(argument: Argument) -> str:
    return f"(void *){argument.c_name}" if argument.kind == "a" else "NULL"


def _arrays(family: Family) -> tuple[str, ...]:
    return (*family.inputs, *family.op.outputs)


def _values(interface: Interface) -> str:
    """Numbers by value, each in the place of its parameter."""
    by_name, op = {a.name: a for a in interface.arguments}, interface.family.op
    texts = []
    for name in _arrays(interface.family):
        argument, field = by_name[name], value_field(op.tensors[name].dtype)
        texts.append(f"{{.{field} = {argument.c_name}}}" if argument.kind == "v" else "{.integer = 0}")
    return f"    const wb_border_value wb_values[] = {{{', '.join(texts)}}};\n"


def _tensors(interface: Interface) -> str:
    family, by_name = interface.family, {a.name: a for a in interface.arguments}
    given = {*family.op.scalars, *untold(family)}
    sizes = ", ".join(by_name[n].c_name if n in given else "0" for n in family.symbols) or "0"
    arrays = [by_name[n] for n in _arrays(family)]
    tensors = ", ".join(a.c_name if a.kind == "a" else "NULL" for a in arrays) or "NULL"
    return (
        f"WB_PUBLIC {interface.tensors()}\n{{\n    int64_t wb_sizes[] = {{{sizes}}};\n"
        f"    const workbench_tensor *const wb_tensors[] = {{{tensors}}};\n{_values(interface)}"
        "    return wb_call_tensors(&wb_the_family, wb_tensors, wb_values, wb_sizes);\n}\n"
    )


def threads_text(name: str) -> str:
    """The thread pool of a library as what its kernels call; other libraries may share it."""
    own = {"wb_parallel_for": "wb_pool_loop", "wb_thread": "wb_pool_number", "wb_pool_lend": f"{name}_pool_lend",
           "wb_pool_borrow": f"{name}_pool_borrow"}  # fmt: skip
    renamed = "".join(f"#define {old} {new}\n" for old, new in own.items())
    back = "".join(f"#undef {old}\n" for old in ("wb_parallel_for", "wb_thread"))
    return (
        f"{renamed}{POOL}\n{back}"
        "void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context);\n"
        "void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context)\n"
        "{\n    wb_pool_loop(begin, end, threads, body, context);\n}\n\n"
        "int wb_thread(void);\nint wb_thread(void)\n{\n    return wb_pool_number();\n}\n"
    )
