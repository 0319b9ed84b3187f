"""NVIDIA GPUs as data: limits of a kernel, of a multiprocessor, and what the data sheets promise.

Limits are those of the compute capability (CUDA C++ programming guide, table "Technical specifications per compute
capability"); processors, clocks, caches, bandwidths and peaks those of NVIDIA's data sheets and architecture papers.
"""

from __future__ import annotations

from workbench.records import record


@record(slots=True)
class Gpu:
    """A GPU.

    capability: "9.0" and so on.  Per block: `block_threads`, `static_shared_bytes` (declared in the text) and
    `block_shared_bytes` (asked for at the launch).  Per thread: `thread_registers` of 32 bits.  Per multiprocessor:
    `warps` and `blocks` resident at once, `registers` of 32 bits, `shared_bytes`.  `reserved_shared_bytes` of each
    block's shared memory are the system's.  Of the chip: `multiprocessors`, `l2_bytes`, `memory_bytes`, `clock_mhz`
    (boost), `bandwidth_gbs` (10^9 bytes a second).  `peaks` are 10^12 operations a second by type of the operands,
    dense; those with "tensor" in their name need tensor cores.
    """

    name: str
    capability: str
    multiprocessors: int
    clock_mhz: int
    l2_bytes: int
    memory_bytes: int
    bandwidth_gbs: float
    peaks: tuple[tuple[str, float], ...]
    warps: int
    blocks: int
    shared_bytes: int
    block_shared_bytes: int
    reserved_shared_bytes: int = 1 << 10
    registers: int = 1 << 16
    thread_registers: int = 255
    block_threads: int = 1024
    static_shared_bytes: int = 48 << 10
    warp_threads: int = 32
    register_unit: int = 256
    shared_unit: int = 128
    banks: int = 32
    bank_bytes: int = 4
    sector_bytes: int = 32
    line_bytes: int = 128

    def peak(self, dtype: str) -> float | None:
        """10^12 operations a second on operands of a type ("float32", "bfloat16 tensor", ...); None if not known."""
        return dict(self.peaks).get(dtype)


KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Capability → warps and blocks of a multiprocessor, its shared memory and what one block may have of it, and the
# shared memory that the system keeps of each block.
LIMITS: dict[str, tuple[int, int, int, int, int]] = {
    "6.0": (64, 32, 64 * KIB, 48 * KIB, 0),
    "7.0": (64, 32, 96 * KIB, 96 * KIB, 0),
    "7.5": (32, 16, 64 * KIB, 64 * KIB, 0),
    "8.0": (64, 32, 164 * KIB, 163 * KIB, KIB),
    "8.6": (48, 16, 100 * KIB, 99 * KIB, KIB),
    "8.9": (48, 24, 100 * KIB, 99 * KIB, KIB),
    "9.0": (64, 32, 228 * KIB, 227 * KIB, KIB),
}
CAPABILITIES = tuple(LIMITS)


def _gpu(
    name: str, capability: str, multiprocessors: int, clock_mhz: int, memory: tuple[int, int, float],
    peaks: dict[str, float],
) -> Gpu:  # fmt: skip
    """`memory` is (L2 in MiB, memory in GiB, bandwidth in 10^9 bytes a second)."""
    l2, size, bandwidth = memory
    sheet = (multiprocessors, clock_mhz, l2 * MIB, size * GIB, bandwidth)
    return Gpu(name, capability, *sheet, tuple(peaks.items()), *LIMITS[capability])


def _peaks(
    float64: float, float32: float, *, half: float = 0, tf32: float = 0, bfloat16: bool = True, int8: float = 0
) -> dict[str, float]:
    found = {"float64": float64, "float32": float32}
    found |= {"tf32 tensor": tf32} if tf32 else {}
    found |= {"float16 tensor": half} if half else {}
    found |= {"bfloat16 tensor": half} if half and bfloat16 else {}
    return found | ({"int8 tensor": int8} if int8 else {})


HOPPER = _peaks(33.5, 66.9, half=989.4, tf32=494.7, int8=1978.9)

GPUS: dict[str, Gpu] = {
    g.name: g
    for g in (
        _gpu("p100", "6.0", 56, 1480, (4, 16, 732), {"float64": 5.3, "float32": 10.6, "float16": 21.2}),
        _gpu("v100", "7.0", 80, 1530, (6, 16, 900), _peaks(7.8, 15.7, half=125, bfloat16=False)),
        _gpu("t4", "7.5", 40, 1590, (4, 16, 320), _peaks(0.25, 8.1, half=65, bfloat16=False, int8=130)),
        _gpu("a100", "8.0", 108, 1410, (40, 80, 2039), _peaks(9.7, 19.5, half=312, tf32=156, int8=624)),
        _gpu("a10", "8.6", 72, 1695, (6, 24, 600), _peaks(0.49, 31.2, half=125, tf32=62.5, int8=250)),
        _gpu("rtx3090", "8.6", 82, 1695, (6, 24, 936), _peaks(0.56, 35.6, half=71, tf32=35.6, int8=284)),
        _gpu("rtx4090", "8.9", 128, 2520, (72, 24, 1008), _peaks(1.29, 82.6, half=165.2, tf32=82.6, int8=660.6)),
        _gpu("l4", "8.9", 58, 2040, (48, 24, 300), _peaks(0.47, 30.3, half=121, tf32=60, int8=242)),
        _gpu("l40s", "8.9", 142, 2520, (96, 48, 864), _peaks(1.43, 91.6, half=362, tf32=183, int8=733)),
        _gpu("h100", "9.0", 132, 1830, (50, 80, 3352), HOPPER),
        _gpu("h200", "9.0", 132, 1980, (50, 141, 4800), HOPPER),
    )
}
GENERIC = "a100"
"""Whose limits are taken where a target says "cuda" and no more."""
