"""Operations that put elements elsewhere."""

from __future__ import annotations

from typing import Any

from workbench.graph.importing.dimension_arithmetic import bounds, least, quotient
from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import lookups, movement
from workbench.graph.importing.written.contractions import einsum
from workbench.graph.importing.written.elementwise import expand
from workbench.graph.terms.dimensions import Dimension, dimension

LARGE = 2**31 - 1


def view(call: Call) -> Value:
    """The same elements in other dimensions."""
    value = call.value("self")
    wanted = call.dims(call("size", call("shape")))
    return movement.reshape(call.g, value, movement.resolved_shape(value, wanted, zero_copies=False))


def permute(call: Call) -> Value:
    """The axes in another order."""
    return movement.transpose(call.g, call.value("self"), call("dims"))


def swapped(call: Call) -> Value:
    """Two axes exchanged."""
    value = call.value("self")
    order = list(range(value.rank))
    a, b = call("dim0", 0), call("dim1", 1)
    if call.name == "t" and value.rank < 2:
        return value
    order[a], order[b] = order[b], order[a]
    return movement.transpose(call.g, value, order)


def expanded(call: Call) -> Value:
    """Axes of size 1 repeated; -1 leaves an axis as it is."""
    value, sizes = call.value("self"), list(call("size"))
    shift = len(sizes) - value.rank
    dims = [value.dims[at - shift] if isinstance(size, int) and size == -1 else size for at, size in enumerate(sizes)]
    return expand(call.g, value, call.dims(dims))


def squeeze(call: Call) -> Value:
    """Axes of size 1 left out."""
    value, axes = call.value("self"), call("dim")
    axes = [axes] if isinstance(axes, int) else axes
    kept = None if axes is None else [axis for axis in axes if value.dims[axis % value.rank].constant == 1]
    return movement.reshape(call.g, value, movement.squeezed(value, kept))


def unsqueeze(call: Call) -> Value:
    """An axis of size 1 put in."""
    value = call.value("self")
    return movement.reshape(call.g, value, movement.unsqueezed(value, [call("dim")]))


def cut(call: Call) -> Value:
    """A slice along an axis."""
    value, axis, step = call.value("self"), call("dim", 0), call("step", 1)
    axis %= value.rank
    start, end = call("start", 0), call("end", LARGE)
    first, count = bounds(value.dims[axis], dimension(start), dimension(end), step)
    found = call.result.shape[axis]  # PyTorch may know more, by what it assumed of sizes
    count = dimension(found) if isinstance(found, int) else count
    return movement.sliced(call.g, value, axis, first, count, step)


def select(call: Call) -> Value:
    """One slice along an axis."""
    value, axis, at = call.value("self"), call("dim"), call("index")
    axis %= value.rank
    if isinstance(at, Value):
        return lookups.gather(call.g, value, at, axis)
    start = dimension(at) if not isinstance(at, int) or at >= 0 else value.dims[axis] + at
    part = movement.sliced(call.g, value, axis, start, dimension(1), 1)
    return movement.reshape(call.g, part, movement.squeezed(part, [axis]))


def put_slice(call: Call) -> Value:
    """A tensor with a slice of it replaced."""
    value, source, axis, step = call.value("self"), call.value("src"), call("dim", 0), call("step", 1)
    axis %= value.rank
    if call.name == "select_scatter":
        start: Any = call("index")
        first = dimension(start) if not isinstance(start, int) or start >= 0 else value.dims[axis] + start
        source = movement.reshape(call.g, source, movement.unsqueezed(source, [axis]))
    else:
        first, _ = bounds(value.dims[axis], dimension(call("start", 0)), dimension(call("end", LARGE)), step)
    return movement.put(call.g, value, source, axis, first, step)


def cat(call: Call) -> Value:
    """Tensors one after another, in the type of the result."""
    from workbench.graph.importing.written.elementwise import cast

    values = [cast(call.g, value, call.element) for value in call("tensors") if value.shape != (0,)]
    return movement.concatenated(call.g, values, call("dim", 0))


def stack(call: Call) -> Value:
    """Tensors beside each other along a new axis."""
    values = call("tensors")
    axis = call("dim", 0)
    raised = [movement.reshape(call.g, value, movement.unsqueezed(value, [axis])) for value in values]
    return movement.concatenated(call.g, raised, axis)


def _parts(call: Call, value: Value, axis: int, sizes: list[Dimension]) -> tuple[Value, ...]:
    """Slices one after another."""
    found, start = [], dimension(0)
    for size in sizes:
        found.append(movement.sliced(call.g, value, axis, start, size, 1))
        start = start + size
    return tuple(found)


def split(call: Call) -> tuple[Value, ...]:
    """Parts along an axis, of given sizes or of equal ones."""
    value, axis = call.value("self"), call("dim", 0) % call.value("self").rank
    sizes = call("split_sizes", call("split_size"))
    if isinstance(sizes, list | tuple):
        return _parts(call, value, axis, [dimension(size) for size in sizes])
    whole, count = value.dims[axis], len(call.result)
    each = dimension(sizes)
    return _parts(call, value, axis, [each] * (count - 1) + [whole - each * (count - 1)])


def unbind(call: Call) -> tuple[Value, ...]:
    """All slices along an axis."""
    value, axis = call.value("self"), call("dim", 0) % call.value("self").rank
    found = _parts(call, value, axis, [dimension(1)] * len(call.result))
    return tuple(movement.reshape(call.g, part, movement.squeezed(part, [axis])) for part in found)


def repeat(call: Call) -> Value:
    """The whole tensor repeated, along new axes in front too."""
    value, times = call.value("self"), call.dims(call("repeats"))
    more = len(times) - value.rank
    raised = movement.reshape(call.g, value, (*[dimension(1)] * more, *value.dims)) if more else value
    return movement.repeated(call.g, raised, times)


def pad(call: Call) -> Value:
    """A border around, of a number or of what lies inside."""
    value, amounts = call.value("self"), call.numbers("pad", default=call("padding", ()))
    before, after = [0] * value.rank, [0] * value.rank
    for at in range(len(amounts) // 2):
        before[value.rank - 1 - at], after[value.rank - 1 - at] = amounts[2 * at : 2 * at + 2]
    mode = "reflect" if "reflection" in call.name else "edge" if "replication" in call.name else "constant"
    return movement.padded_tensor(call.g, value, before, after, mode=mode, fill=call("value", 0))


def flip(call: Call) -> Value:
    """The order along axes turned round."""
    return movement.flipped(call.g, call.value("self"), call("dims"))


def roll(call: Call) -> Value:
    """Elements moved along axes, round the ends."""
    value, axes = call.value("self"), call("dims", ())
    shifts = call.numbers("shifts")
    if not axes:
        call.refuse("a roll of all elements as one axis; name the axes")
    for axis, shift in zip(axes, shifts, strict=True):
        axis %= value.rank
        size = value.dims[axis]
        if size.constant is not None:
            shift %= size.constant
        first = movement.sliced(call.g, value, axis, size - shift, dimension(shift), 1)
        rest = movement.sliced(call.g, value, axis, dimension(0), size - shift, 1)
        value = movement.concatenated(call.g, [first, rest], axis) if shift else value
    return value


def triangle(call: Call) -> Value:
    """The upper or lower triangle."""
    return lookups.triangular_part(call.g, call.value("self"), call("diagonal", 0), upper=call.name == "triu")


def diagonal(call: Call) -> Value:
    """The elements whose places along two axes are equal; they become the last axis."""
    value = call.value("self")
    a, b = call("dim1", 0) % value.rank, call("dim2", 1) % value.rank
    if call("offset", 0):
        call.refuse("a diagonal beside the main one")
    count = least(value.dims[a], value.dims[b])
    for axis in (a, b):
        value = movement.sliced(call.g, value, axis, dimension(0), count, 1)
    letters = "abcdefghijkl"[: value.rank]
    term = "".join("z" if at in (a, b) else each for at, each in enumerate(letters))
    return einsum(call.g, f"{term}->{''.join(each for each in term if each != 'z')}z", [value])


def unfold(call: Call) -> Value:
    """Windows along an axis; what is in them becomes the last axis."""
    value, axis = call.value("self"), call("dimension") % call.value("self").rank
    size, step = call("size"), call("step")
    sizes = [f"D{at}" for at in range(value.rank)]
    at = [f"i{each}" for each in range(value.rank)]
    out, read = [*sizes, str(size)], [*at]
    out[axis] = f"({sizes[axis]} - {size}) / {step} + 1"
    read[axis] = f"{step} * {at[axis]} + k"
    ranges = f"{at[axis]} in 0:{out[axis]}, k in 0:{size}"
    body = f"y({','.join([*at, 'k'])}) = x({','.join(read)}) where {ranges}"
    return call.g.define("unfold", [("x", value, sizes)], [("y", value.element, out)], body)


def pixel_shuffle(call: Call) -> Value:
    """Blocks of channels become blocks of the picture."""
    x, b = call.value("self"), call("upscale_factor")
    n, c, h, w = x.dims
    inner = quotient(c, dimension(b * b))
    parted = movement.reshape(call.g, x, (n, inner, dimension(b), dimension(b), h, w))
    return movement.reshape(call.g, movement.transpose(call.g, parted, [0, 1, 4, 2, 5, 3]), (n, inner, h * b, w * b))


WRITERS: dict[str, Writer] = {
    "_reshape_copy": view,
    "_unsafe_view": view,
    "cat": cat,
    "constant_pad_nd": pad,
    "diagonal": diagonal,
    "expand": expanded,
    "flip": flip,
    "pad": pad,
    "permute": permute,
    "pixel_shuffle": pixel_shuffle,
    "reflection_pad1d": pad,
    "reflection_pad2d": pad,
    "repeat": repeat,
    "replication_pad1d": pad,
    "replication_pad2d": pad,
    "reshape": view,
    "roll": roll,
    "select": select,
    "select_scatter": put_slice,
    "slice": cut,
    "slice_scatter": put_slice,
    "split": split,
    "split_with_sizes": split,
    "squeeze": squeeze,
    "stack": stack,
    "t": swapped,
    "transpose": swapped,
    "tril": triangle,
    "triu": triangle,
    "unbind": unbind,
    "unfold": unfold,
    "unsqueeze": unsqueeze,
    "view": view,
}
