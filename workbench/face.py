"""The face as tables: where each public name stands, and what a notebook shows."""

from __future__ import annotations

from workbench.step_names import STEPS

# Public name → "module:attribute"; steps are found from their files.
NAMES: dict[str, str] = {
    "operator": "workbench.lang:operator",
    "operators": "workbench.lang:operators",
    "einsum": "workbench.lang:einsum",
    "grad": "workbench.lang:grad",
    "jvp": "workbench.lang:jvp",
    "saving": "workbench.lang:saving",
    "tape": "workbench.lang:tape",
    "vmap": "workbench.lang:vmap",
    "Model": "workbench.graph:Model",
    "model": "workbench.graph:model",
    "passes": "workbench.graph.passes.support.vocabulary:passes",
    "optimize": "workbench.graph.optimizing:optimize",
    "build": "workbench.graph.running.building:build",
    "plan_memory": "workbench.graph:plan_memory",
    "engine": "workbench.graph.engines:engine",
    "from_onnx": "workbench.graph.importing.from_onnx_models:from_onnx",
    "from_torch": "workbench.graph.importing.from_torch_modules:from_torch",
    "from_c": "workbench.fromc.program:from_c",
    "schedule": "workbench.schedules:schedule",
    "check": "workbench.schedules:check",
    "choose": "workbench.schedules:choose",
    "where": "workbench.schedules:where",
    "Sketch": "workbench.schedules:Sketch",
    "next_steps": "workbench.schedules:next_steps",
    "panel": "workbench.viz.panels:panel",
    "preview": "workbench.schedules:preview",
    "replay": "workbench.schedules:replay",
    "Schedule": "workbench.schedules:Schedule",
    "Verdict": "workbench.schedules:Verdict",
    "register": "workbench.schedules:register",
    "MicroKernel": "workbench.schedules:MicroKernel",
    "together": "workbench.schedules:together",
    "occupancy": "workbench.schedules.analysis.gpu_reports:occupancy",
    "coalescing": "workbench.schedules.analysis.gpu_reports:coalescing",
    "bank_conflicts": "workbench.schedules.analysis.gpu_reports:bank_conflicts",
    "trace_touches": "workbench.codegen:trace_touches",
    "measure": "workbench.runtime:measure",
    "verify": "workbench.runtime:verify",
    "evaluate_c": "workbench.runtime:evaluate_c",
    "doctor": "workbench.runtime:doctor",
    "sanitize": "workbench.runtime.emulation:sanitize",
    "autotune": "workbench.tune:autotune",
    "calibrate": "workbench.runtime:calibrate",
    "Costs": "workbench.target_costs:Costs",
    "ceilings": "workbench.runtime:ceilings",
    "Ceilings": "workbench.runtime:Ceilings",
    "explain": "workbench.viz.views.performance.explanation_view:explain",
    "figure": "workbench.viz.notebook.figures:figure",
    **{step: f"workbench.schedules:{step}" for step in STEPS},
    "partition": "workbench.graph.dividing:partition",  # the step of that name among others
}

# Engine for parts of models that comes along → where it stands; those of other packages stand among the exporters.
ENGINES = {
    "workbench": "workbench.graph.engines.known.kernels:workbench",
    "c": "workbench.graph.engines.known.c_source:c",
    "json": "workbench.graph.engines.known.json_text:json",
    "torch": "workbench.export.engines.torch_engine:torch_eager",
    "onnxruntime": "workbench.export.engines.onnxruntime_engine:onnxruntime_session",
}

# Method of Operator that needs a later room → where it stands.
METHODS = {
    "__call__": "workbench.runtime:call",
    "plan": "workbench.runtime:plan",
    "evaluate": "workbench.lang:evaluate",
    "astype": "workbench.lang:astype",
    "flops": "workbench.ops:flops",
    "bytes": "workbench.ops:bytes",
}

# Values that a notebook shows as pictures, where their classes stand; their room draws nothing itself.
SHOWN = (
    "workbench.lang.operator:Operator",
    "workbench.poly.programs.program:Program",
    "workbench.schedules.scheduled_program:Schedule",
    "workbench.schedules.legality:Verdict",
    "workbench.codegen.kernel:Kernel",
    "workbench.runtime.kernels.launch:CompiledKernel",
    "workbench.runtime.calls.preparing:Plan",
    "workbench.runtime.measuring.timing:Measurement",
    "workbench.runtime.checking.verification:Verification",
    "workbench.runtime.examining:Report",
    "workbench.graph.memory.plans:MemoryPlan",
    "workbench.graph.models:Model",
    "workbench.graph.fusion.results:FusionResult",
    "workbench.graph.engines.partitions:Partition",
    "workbench.graph.running.built_models:BuiltModel",
    "workbench.graph.running.profiles:Profile",
)
