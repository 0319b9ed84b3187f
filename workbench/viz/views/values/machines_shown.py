"""Targets, and what a schedule asks of a GPU: as titles, remarks and tables."""

from __future__ import annotations

from workbench.schedules.analysis.gpu_reports import Occupancy, WarpReport
from workbench.target import Target
from workbench.target_gpus import Gpu
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.tables import Table
from workbench.viz.views.performance.footprint_data import LEVELS
from workbench.viz.views.program.sheet_view import Sheet, sheet_data


@sheet_data.register
def _(value: Target) -> Sheet:
    """What is known of a machine, in units."""
    if value.gpu is not None:
        return f"target {value.name}: {value.dialect} for a GPU", (), (Table(_gpu_rows(value.gpu), right=(1,)),)
    sizes = zip(LEVELS, map(bytes_text, value.cache_bytes), strict=True)
    rows = (
        ("cores", str(value.cores)),
        ("vectors", f"{value.vector_registers} of {value.vector_bits} bits"),
        *((level, size) for level, size in sizes if size != "0 B"),
        ("line of a cache", bytes_text(value.line_bytes)),
        ("threads by", value.parallel),
        ("compiled for", value.march),
        *([("features", ", ".join(value.isa))] if value.isa else []),
    )
    return f"target {value.name}: {value.dialect}", (), (Table(rows),)


def _gpu_rows(gpu: Gpu) -> tuple[tuple[str, ...], ...]:
    peaks = tuple((f"peak, {kind}", f"{peak:g} TFLOP/s") for kind, peak in gpu.peaks)
    return (
        ("compute capability", gpu.capability),
        ("multiprocessors", str(gpu.multiprocessors)),
        ("clock", f"{gpu.clock_mhz} MHz"),
        ("memory", bytes_text(gpu.memory_bytes)),
        ("bandwidth", f"{gpu.bandwidth_gbs:g} GB/s"),
        ("L2", bytes_text(gpu.l2_bytes)),
        ("shared memory of a multiprocessor", bytes_text(gpu.shared_bytes)),
        ("shared memory of a block", bytes_text(gpu.block_shared_bytes)),
        ("warps at once", str(gpu.warps)),
        *peaks,
    )


@sheet_data.register
def _(value: Occupancy) -> Sheet:
    rows = tuple(
        (
            k.kernel, str(k.threads), f"{k.registers}{' (guess)' if k.estimated else ''}", bytes_text(k.shared_bytes),
            str(k.blocks), str(k.warps), _share(k.share), k.limit,
        )
        for k in value.kernels
    )  # fmt: skip
    head = ("kernel", "threads", "registers", "shared memory", "blocks", "warps", "occupancy", "limited by")
    table = Table(rows, "", head, mono=(0,), right=(1, 2, 3, 4, 5))
    return f"on each multiprocessor of {value.gpu.name}", (), (table,) if rows else ()


@sheet_data.register
def _(value: WarpReport) -> Sheet:
    """The most wasteful accesses first."""
    rows = tuple(
        (
            a.statement, f"{'reads' if a.kind == 'read' else 'writes'} {a.text}",
            f"{a.requests:,}{'' if a.complete else ' (some)'}", f"{a.average:.2f}", str(a.worst), _share(a.efficiency),
        )
        for a in sorted(value.accesses, key=lambda a: a.efficiency)
    )  # fmt: skip
    if not rows:
        return str(value), (), ()
    head = ("statement", "access", "of warps", f"{value.unit} on average", "at worst", "efficiency")
    said = f"{value.efficiency:.0%} of the {value.unit} are needed"
    return said, (), (Table(rows, "", head, mono=(0, 1), right=(2, 3, 4)),)


def _share(part: float) -> str:
    """`██████▎   63%`: ten blocks for all of it."""
    return f"{'█' * round(10 * part):<10} {part:.0%}"
