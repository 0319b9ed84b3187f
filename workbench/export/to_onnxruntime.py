"""`onnxruntime`: an operator with its schedules as a custom operator of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from workbench.errors import CodegenError, WorkbenchError
from workbench.export.dispatch import LEVELS, Family, families_for, family_of, gpu_target, with_gpu
from workbench.export.dispatch.architectures import native
from workbench.export.dispatch.files import folder_of, put_file
from workbench.export.models.built import is_built
from workbench.export.ort.library import Built, built
from workbench.export.ort.signature import Port, node_domain, node_inputs, outputs_of
from workbench.records import record
from workbench.target import Target


@record
class OnnxRuntimeLibrary:
    """What was written: `model` is one node, `<name>` of the domain `workbench.<name>`; `library` has its kernels.

    `pure` is the same model with a body of plain ONNX, for runtimes without the library; None where there is none, and
    `why_not_pure` says why.  The node takes `inputs` and gives `outputs`, in their order; `kernels` says what each
    kernel is for, `notes` what could not be built here, and why.
    """

    name: str
    directory: Path
    libraries: Mapping[str, Path]
    model: Path
    pure: Path | None
    why_not_pure: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    kernels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The domain of the node."""
        return node_domain(self.name)

    @property
    def library(self) -> Path:
        """The one for this machine."""
        return self.libraries[native()]

    def translation(self, torch_op: Any) -> dict[Any, Any]:
        """What `torch.onnx.export` takes as `custom_translation_table`: the operator that `wb.export.torch` returned
        becomes this node.  WorkbenchError where onnxscript is missing."""
        try:
            from workbench.export.ort.from_torch import table  # only here it is needed
        except ModuleNotFoundError as reason:
            raise WorkbenchError(f"torch.onnx.export needs onnxscript: pip install onnxscript ({reason})") from reason
        return table(self.name, self.inputs, self.outputs, torch_op)

    def __str__(self) -> str:
        files = [*self.libraries.values(), self.model, *([self.pure] if self.pure else [])]
        lines = [f"{self.name} as an operator of ONNX Runtime in {self.directory}"]
        lines += [f"  {path.relative_to(self.directory)}" for path in files]
        taken, given = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        lines += ["node", f"  {self.domain}::{self.name}({taken}) -> ({given})"]
        lines += ["kernels", *(f"  {title}" for title in self.kernels), *self.notes]
        return "\n".join(lines + ([] if self.pure else [f"no body of plain ONNX: {self.why_not_pure}"]))

    def __repr__(self) -> str:
        return str(self)


def onnxruntime(
    what: Any, /, directory: str | PathLike[str], *, gpu: str | Target | bool | None = None, name: str | None = None
) -> OnnxRuntimeLibrary:  # fmt: skip
    """Write an operator for ONNX Runtime: a library of its kernels, a model that calls it, one that does without.

    `what` is an operator, a schedule, a study, or a list of schedules and studies of one operator; sizes for which none
    of them is run through the default recipe.  `lib<name>_onnxruntime.so` is given to
    `SessionOptions.register_custom_ops_library`; it has kernels for every instruction set level, and is built for
    64-bit ARM too where a cross compiler is found.  `<name>.onnx` is one node of it, `<name>_pure.onnx` the same node
    with a body of plain ONNX operators.  Threads and memory are ONNX Runtime's.  What the operator updates is an input
    more, and the new value is returned.

    It is an operator of the CUDA execution provider too where schedules are for a GPU, or `gpu` asks for it (True,
    "h200", a Target): machine code for that GPU, else for each generation, stands in the library, kernels are started
    on the session's stream, and NVIDIA's driver alone is needed.

    A built model, `wb.build(model)`, becomes a node called `name` ("model", or the entry's own name), for the sizes it
    was prepared for, with its weights in the library and without a body of plain ONNX.

    Raises BuildError without a compiler, WorkbenchError where onnx is missing or for what cannot be exported.
    """
    family, folder = _family(what, gpu, name), folder_of(directory)
    try:
        from workbench.export.ort.body.function import onnx_function  # only this export needs onnx
        from workbench.export.ort.model import model_of, write_onnx
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"the package onnx is not installed: pip install onnx ({reason})") from reason
    families = families_for(family)
    architectures = (native(),) if family.whole else LEVELS
    parts = [built(families, architecture) for architecture in architectures]
    libraries = {p.architecture: _in_place(folder, p) for p in parts if p.library is not None}
    model = write_onnx(model_of(family), folder / f"{family.op.name}.onnx")
    pure, why_not = None, ""
    place = folder / f"{family.op.name}_pure.onnx"
    try:
        if family.whole:
            raise CodegenError("a built model is kernels and weights alone")
        pure = write_onnx(model_of(family, [onnx_function(family)]), place)
    except CodegenError as reason:
        why_not = str(reason)
        place.unlink(missing_ok=True)
    kernels = tuple(title for part in parts for title in part.kernels)
    notes = tuple(note for part in parts for note in part.notes)
    ports = node_inputs(family), outputs_of(family)
    return OnnxRuntimeLibrary(family.op.name, folder, libraries, model, pure, why_not, *ports, kernels, notes)


def _family(what: Any, gpu: str | Target | bool | None, name: str | None) -> Family:
    if is_built(what):
        from workbench.export.models.model_family import model_family  # operators do without models

        return model_family(what, name, gpu)
    if name is not None:
        raise WorkbenchError("name= is for built models; an operator's node is called as the operator is")
    return with_gpu(family_of(what), gpu_target(gpu))


def _in_place(folder: Path, part: Built) -> Path:
    """The native library stands beside the models, others in a folder of their own."""
    assert part.library is not None
    place = folder if part.architecture == native() else folder / part.architecture
    return put_file(part.library, place / part.library.name)
