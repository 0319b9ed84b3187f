"""Processors by name, so that code can be written, compiled and looked at for machines that are not this one.

Each stands for a family: the instruction sets it has, its registers, and what its compilers call it.
"""

from __future__ import annotations

from typing import Any

_AVX2 = ("sse2", "sse4_2", "avx", "f16c", "fma", "avx2")
_AVX512 = (*_AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl")
_SERVER = (*_AVX512, "avx512_vnni", "avx512_bf16")
_ARM = ("neon", "fp16", "bf16", "dotprod", "i8mm")


def _cpu(bits: int, registers: int, march: str, isa: tuple[str, ...]) -> dict[str, Any]:
    return {"vector_bits": bits, "vector_registers": registers, "march": march, "isa": isa}


CPUS: dict[str, dict[str, Any]] = {
    "avx2": _cpu(256, 16, "haswell", _AVX2),
    "avx_vnni": _cpu(256, 16, "alderlake", (*_AVX2, "avx_vnni")),
    "avx512": _cpu(512, 32, "skylake-avx512", _AVX512),
    "avx512_vnni": _cpu(512, 32, "cooperlake", _SERVER),
    "amx": _cpu(512, 32, "sapphirerapids", (*_SERVER, "avx_vnni", "amx_tile", "amx_int8", "amx_bf16")),
    "neon": _cpu(128, 32, "armv8-a", ("neon",)),
    "neon_dot": _cpu(128, 32, "armv8.6-a+fp16", _ARM),
    "sve256": _cpu(256, 32, "armv8.2-a+sve", ("neon", "sve")),
    "sve512": _cpu(512, 32, "armv8.2-a+sve", ("neon", "sve")),
}
"""Name → what is known of the machine (fields of a Target).  SVE code is written for one length of its registers."""
