"""What people call steps elsewhere (Halide, TVM, Exo, Triton, MLIR, CUDA, papers), and what to type here."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import unknown_name

# Name elsewhere → (the steps here, how they differ).
NAMES: dict[str, tuple[tuple[str, ...], str]] = {
    # Order
    "apply_affine_map": (("affine",), "a map of instances as text or matrix"),
    "autofission": (("distribute",), "before one statement; distribute again for the next"),
    "collapse": (("fuse",), "neighbouring loops become one"),
    "coalesce_loops": (("fuse",), "neighbouring loops become one"),
    "cut_loop": (("partition",), "by a condition on the statement's indices"),
    "divide_loop": (("split",), "the last block may be partial; isolate sets it apart"),
    "distribution": (("distribute",), "before one statement"),
    "fission": (("distribute",), "before one statement"),
    "fuse_at": (("merge",), "two nests share their outer loops; fuse makes one loop of two"),
    "fuse_loops": (("merge",), "two nests share their outer loops; fuse makes one loop of two"),
    "fusion": (("merge",), "two nests share their outer loops; fuse makes one loop of two"),
    "guard_with_if": (("split",), "a partial block is guarded as it is; isolate sets it apart"),
    "index_set_split": (("partition",), "by a condition on the statement's indices"),
    "index_set_splitting": (("partition",), "by a condition on the statement's indices"),
    "jam": (("unroll_jam",), "unrolls the outer loop and joins the copies"),
    "join_loops": (("merge",), "two nests share their outer loops"),
    "loop_partition": (("partition", "isolate"), "by a condition, or full tiles apart from partial ones"),
    "partial_tiles": (("isolate",), "full tiles apart from partial ones"),
    "peel": (("partition",), "the first iterations by a condition: partition(statement, 'i < 1')"),
    "permute": (("reorder",), "all that change places, outermost first"),
    "reorder_axes": (("reorder",), "all that change places, outermost first"),
    "reorder_loops": (("interchange", "reorder"), "two loops change places, or several as they are listed"),
    "reorder_stmts": (("arrange",), "the statements as they are listed"),
    "shift_loop": (("shift",), "a statement's iterations, by a number"),
    "stripmine": (("split",), "one loop in blocks"),
    "strip_mine": (("split",), "one loop in blocks"),
    "swap": (("interchange",), "two loops change places; statements: arrange"),
    "tile_2d": (("tile",), "any number of loops by name: tile(m=32, n=32)"),
    "time_skew": (("skew",), "a loop slanted against another"),
    "unimodular": (("affine",), "a map of instances as text or matrix"),
    "unskew": (("skew",), "with the negative factor"),
    # Instances
    "add_loop": (("add_unit_loop",), "one iteration, to be merged with a longer loop"),
    "at": (("compute_at",), "the producer first, then the loop"),
    "compute_inline": (("inline",), "the value is written where it is read"),
    "compute_root": (("root",), "out of a shared nest, into one of its own"),
    "compute_with": (("merge",), "two nests share their outer loops"),
    "bound_extent": (("isolate",), "extents are inferred; isolate sets full tiles apart"),
    "fuse_reduction_epilogue": (("reverse_compute_at",), "the consumer at the innermost loop around the result"),
    "producer_fusion": (("compute_at",), "the producer first, then the loop"),
    "recompute": (("compute_at",), "with recompute=True, which is the default"),
    "reverse_compute_inline": (("reverse_compute_at",), "the consumer at the innermost loop around the result"),
    "rfactor": (("split_reduction",), "partial results along a reduction loop, added up at the end"),
    "privatize": (("split_reduction", "stage"), "a partial result an iteration, or a place for a temporary in each"),
    "split_k": (("split_reduction",), "partial results along a reduction loop, added up at the end"),
    # Storage
    "cache_inplace": (("stage",), "what a loop reads is loaded, what it writes goes back"),
    "cache_read": (("stage",), "what a loop reads of an array is loaded into a buffer: stage('A', 'k_o')"),
    "cache_write": (("stage",), "what a loop writes stays in a buffer until its end: stage('C', 'n_o')"),
    "copy_at": (("stage",), "the array first, then the loop"),
    "double_buffer_at": (("double_buffer",), "names the buffer; the loop is the one it was staged at"),
    "expand_dim": (("stage",), "a place in each iteration of the loop it is staged at"),
    "fold_buffer": (("fold_storage",), "a rolling buffer, with its proof"),
    "in_shared": (("stage", "bind"), "shared memory is where the threads of a block share a staged buffer"),
    "pack": (("stage", "transform_layout"), "a copy, then its layout"),
    "pad_einsum": (("pad",), "every tile of the named loops full"),
    "pad_to_multiple": (("pad",), "every tile of the named loops full"),
    "decompose_padding": (("pad",), "every tile of the named loops full"),
    "promote": (("stage",), "the array first, then the loop"),
    "read_at": (("stage",), "the array first, then the loop"),
    "write_at": (("stage",), "the array first, then the loop"),
    "reindex": (("stage", "transform_layout"), "a copy, then its layout"),
    "rearrange_dim": (("transform_layout",), "all dimensions at once: '(m, k) -> (k, m)'"),
    "reorder_storage": (("transform_layout",), "all dimensions at once: '(m, k) -> (k, m)'"),
    "rolling_buffer": (("fold_storage",), "the dimension and the number of places, with its proof"),
    "fold": (("fold_storage",), "the dimension and the number of places, with its proof"),
    "set_layout": (("transform_layout",), "for buffers and temporaries: '(m, k) -> (k, m)'"),
    "set_memory": (("stage",), "scopes follow from who shares the buffer"),
    "set_scope": (("stage",), "scopes follow from who shares the buffer"),
    "smem": (("stage", "bind"), "shared memory is where the threads of a block share a staged buffer"),
    "software_pipeline": (("pipeline",), "the loop and the number of stages"),
    "num_stages": (("pipeline",), "the loop and the number of stages: pipeline('k_o', stages=3)"),
    "stage_mem": (("stage",), "the array first, then the loop"),
    "store_at": (("stage", "fold_storage"), "storage is as short as its values live; fold_storage keeps fewer places"),
    "store_in": (("stage",), "scopes follow from who shares the buffer"),
    "store_root": (("root",), "storage is as long as its values live"),
    "transform_block_layout": (("affine",), "a map of instances as text or matrix"),
    "cp_async": (("pipeline",), "with async_=True the copies are asynchronous"),
    "memcpy_async": (("pipeline",), "with async_=True the copies are asynchronous"),
    # Execution
    "block": (("bind",), "bind(loop, 'block.x')"),
    "thread": (("bind",), "bind(loop, 'thread.x')"),
    "blocks": (("bind",), "bind(loop, 'block.x')"),
    "threads": (("bind",), "bind(loop, 'thread.x')"),
    "gpu_blocks": (("bind",), "one loop at a time: bind(loop, 'block.x')"),
    "gpu_threads": (("bind",), "one loop at a time: bind(loop, 'thread.x')"),
    "gpu_tile": (("tile", "bind"), "blocks first, then bind them"),
    "map_to": (("bind",), "bind(loop, 'thread.x')"),
    "program_id": (("bind",), "bind(loop, 'block.x')"),
    "num_warps": (("split", "bind"), "threads are a loop: split by 32 times the warps, and bind"),
    "atomic_add": (("atomic",), "names the statement whose updates meet"),
    "blockize": (("replace",), "no block of its own is needed"),
    "call_eqn": (("replace",), "the loop, then the micro-kernel"),
    "replace_all": (("replace",), "the loop, then the micro-kernel"),
    "tensorize": (("replace",), "the loop, then the micro-kernel"),
    "hoist": (("stage",), "invariants move out of loops by themselves; values kept around a loop are staged"),
    "mma_sync": (("replace",), "the loop, then the micro-kernel"),
    "wmma": (("replace",), "the loop, then the micro-kernel"),
    "omp_parallel": (("parallelize",), "names the loop"),
    "parallel": (("parallelize",), "names the loop"),
    "parallelise": (("parallelize",), "names the loop"),
    "parallelize_loop": (("parallelize",), "names the loop"),
    "prange": (("parallelize",), "names the loop"),
    "simd": (("vectorize",), "names the loop"),
    "vectorise": (("vectorize",), "names the loop"),
    "vectorize_loop": (("vectorize",), "names the loop"),
    "prefetch_at": (("prefetch",), "the array, the loop, and how many iterations ahead"),
    "software_prefetch": (("prefetch",), "the array, the loop, and how many iterations ahead"),
    "stream": (("nontemporal",), "names the statement whose stores go past the caches"),
    "streaming_store": (("nontemporal",), "names the statement whose stores go past the caches"),
    "store_nontemporal": (("nontemporal",), "names the statement whose stores go past the caches"),
    "syncthreads": (("barrier",), "names the statement before which threads wait"),
    "thread_sync": (("barrier",), "names the statement before which threads wait"),
    "debug_barrier": (("barrier",), "names the statement before which threads wait"),
    "unroll_and_jam": (("unroll_jam",), "unrolls the outer loop and joins the copies"),
    "unroll_and_interleave": (("unroll_jam",), "unrolls the outer loop and joins the copies"),
    "unroll_loop": (("unroll",), "names the loop"),
    "static_range": (("unroll",), "names the loop"),
    # Whole schedules
    "auto_schedule": (("autoschedule",), "the default recipe; autotune searches"),
    "create_schedule": (("schedule",), "of an operator and its sizes"),
    "sample_perfect_tile": (("tile", "choose"), "a choice in place of a size: tile(m=choose(16, 32))"),
    "sample_categorical": (("choose",), "a choice in place of an argument or a step"),
    "autotuner": (("autotune",), "of a sketch or an operator"),
}  # fmt: skip


def known_as(name: object) -> str | None:
    """What to type here for a name from elsewhere: "'rfactor' is split_reduction here: partial ..."; None if unknown.

    >>> known_as("fission")
    "'fission' is distribute here: before one statement"
    """
    if not isinstance(name, str) or name not in NAMES:
        return None
    ours, difference = NAMES[name]
    return f"{name!r} is {' or '.join(ours)} here: {difference}"


def unknown_step(name: object, known: Iterable[str]) -> str:
    """Message for a step that there is not: what it is called here if others have it, else the known ones."""
    return known_as(name) or unknown_name("step", name, known)
