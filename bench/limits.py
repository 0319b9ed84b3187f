"""Instruction sets that everybody may be limited to, and how each library is told."""

from __future__ import annotations

LIMITS: dict[str, dict[str, str]] = {
    "avx2": {
        "WORKBENCH_PROCESSOR": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    },
}
"""Instruction set → variables of the environment."""
