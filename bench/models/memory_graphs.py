"""Lifetimes to plan for: random graphs, and the buffers of networks everybody knows, from formulas."""

from __future__ import annotations

from random import Random

from workbench.graph.memory import Buffer, Lifetimes, Share, Step
from workbench.lang.algebra.polynomial import Polynomial, atom
from workbench.lang.expr import Size

FLOAT = 4


class Recorder:
    """Collects steps and buffers; each method adds a step and gives back the name of what it writes."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.buffers: dict[str, Buffer] = {}

    def outside(self, name: str, size: int) -> str:
        """A buffer that is given."""
        self.buffers[name] = Buffer(name, size, "outside")
        return name

    def size(self, name: str) -> int:
        """Its bytes."""
        return int(self.buffers[name].size)  # type: ignore[arg-type]

    def step(self, kind: str, reads: tuple[str, ...], sizes: tuple[int, ...], shares: tuple[Share, ...] = ()) -> str:
        """Any step; outputs are named after it: `conv3`, and `conv3.1` for a second."""
        name = f"{kind}{len(self.steps)}"
        writes = tuple(f"{name}.{n}" if n else name for n in range(len(sizes)))
        self.steps.append(Step(name, reads, writes, shares))
        self.buffers |= {each: Buffer(each, size) for each, size in zip(writes, sizes, strict=True)}
        return name

    def _next(self, kind: str) -> str:
        return f"{kind}{len(self.steps)}"

    def compute(self, kind: str, size: int, *reads: str) -> str:
        """An output that shares nothing: a convolution, a matrix product."""
        return self.step(kind, reads, (size,))

    def elementwise(self, kind: str, *reads: str) -> str:
        """As large as its first input; may overwrite any input of that size."""
        size = self.size(reads[0])
        same = dict.fromkeys(each for each in reads if self.size(each) == size)
        shares = tuple(Share("overwrite", self._next(kind), each) for each in same)
        return self.step(kind, reads, (size,), shares)

    def view(self, kind: str, read: str, size: int | None = None, start: int = 0) -> str:
        """The bytes of an input, or some of them."""
        share = Share("view", self._next(kind), read, -start)
        return self.step(kind, (read,), (self.size(read) if size is None else size,), (share,))

    def concatenate(self, *reads: str) -> str:
        """One behind the other (along the first axis that is not 1, so that parts are contiguous)."""
        at, shares = 0, []
        for each in reads:
            shares.append(Share("part", self._next("cat"), each, at))
            at += self.size(each)
        return self.step("cat", reads, (at,), tuple(shares))

    def finish(self, *results: str) -> Lifetimes:
        """The lifetimes, with these results."""
        buffers = (Buffer(b.name, b.size, "result") if b.name in results else b for b in self.buffers.values())
        return Lifetimes(tuple(self.steps), tuple(buffers))


# -- networks --------------------------------------------------------------------------------------


def _normed(r: Recorder, size: int, source: str, relu: bool = True) -> str:
    """Convolution, batch normalisation, and ReLU unless told otherwise, each a step."""
    x = r.elementwise("norm", r.compute("conv", size, source))
    return r.elementwise("relu", x) if relu else x


def resnet18(image: int = 224, batch: int = 1) -> Lifetimes:
    """ResNet-18 (He et al., CVPR 2016): a stem of 64 channels at half the size, pooled once more, then four stages of
    two blocks, channels 64·2ˢ at image/4/2ˢ; convolution, normalisation, ReLU and addition are steps.
    """
    r = Recorder()
    x = r.outside("image", batch * 3 * image**2 * FLOAT)
    x = _normed(r, batch * 64 * (image // 2) ** 2 * FLOAT, x)
    x = r.compute("pool", batch * 64 * (image // 4) ** 2 * FLOAT, x)
    for stage in range(4):
        size = batch * 64 * 2**stage * (image // 4 // 2**stage) ** 2 * FLOAT
        for block in range(2):
            skip = _normed(r, size, x, relu=False) if stage and not block else x
            y = _normed(r, size, _normed(r, size, x), relu=False)
            x = r.elementwise("relu", r.elementwise("add", y, skip))
    pooled = r.view("flatten", r.compute("mean", batch * 512 * FLOAT, x))
    return r.finish(r.compute("linear", batch * 1000 * FLOAT, pooled))


def unet(image: int = 256, channels: int = 64, depth: int = 4) -> Lifetimes:
    """U-Net (Ronneberger et al., MICCAI 2015), padded: level l has channels·2ˡ at image/2ˡ, two convolutions with ReLU
    on the way down and on the way up, where what came down is concatenated with what was scaled up.
    """
    r = Recorder()
    x, skips = r.outside("image", 3 * image**2 * FLOAT), []

    def double(x: str, size: int) -> str:
        for _ in range(2):
            x = r.elementwise("relu", r.compute("conv", size, x))
        return x

    def level(n: int) -> int:
        return channels * 2**n * (image // 2**n) ** 2 * FLOAT

    for n in range(depth):
        x = double(x, level(n))
        skips.append(x)
        x = r.compute("pool", level(n) // 4, x)
    x = double(x, level(depth))
    for n in reversed(range(depth)):
        x = double(r.concatenate(skips[n], r.compute("up", level(n), x)), level(n))
    return r.finish(r.compute("conv", 2 * image**2 * FLOAT, x))


def densenet(image: int = 224, growth: int = 32, layers: tuple[int, ...] = (6, 12, 24, 16)) -> Lifetimes:
    """DenseNet-121 (Huang et al., CVPR 2017): layer l of a block reads the concatenation of the block's input and the
    `growth` channels of each layer before it; normalisation, ReLU, 1x1 to 4·growth, the same, 3x3 to growth; between
    blocks half the channels at half the size.
    """
    r = Recorder()
    x = _normed(r, 2 * growth * (image // 2) ** 2 * FLOAT, r.outside("image", 3 * image**2 * FLOAT))
    width, channels = image // 4, 2 * growth
    x = r.compute("pool", channels * width**2 * FLOAT, x)
    for block, count in enumerate(layers):
        features = [x]
        for _ in range(count):
            x = r.concatenate(*features) if len(features) > 1 else x
            x = r.elementwise("relu", r.elementwise("norm", x))
            x = _normed(r, 4 * growth * width**2 * FLOAT, x)
            features.append(r.compute("conv", growth * width**2 * FLOAT, x))
        channels += count * growth
        x = r.elementwise("relu", r.elementwise("norm", r.concatenate(*features)))
        if block < len(layers) - 1:
            channels, width = channels // 2, width // 2
            x = r.compute("pool", channels * width**2 * FLOAT, r.compute("conv", 4 * channels * width**2 * FLOAT, x))
    return r.finish(r.compute("linear", 1000 * FLOAT, r.compute("mean", channels * FLOAT, x)))


def transformer(tokens: int = 512, width: int = 768, heads: int = 12, blocks: int = 4) -> Lifetimes:
    """Encoder blocks as in BERT (Devlin et al., 2019): tokens x width; queries, keys and values from one product and
    split, heads·tokens² scores, softmax, projection, addition and normalisation, then 4·width in between.
    """
    r = Recorder()
    whole, scores = tokens * width * FLOAT, heads * tokens**2 * FLOAT
    x = r.compute("embed", whole, r.outside("ids", tokens * FLOAT))
    for _ in range(blocks):
        joint = r.compute("qkv", 3 * whole, x)
        q, k, v = (r.compute("heads", whole, r.view("split", joint, whole, n * whole)) for n in range(3))
        weights = r.elementwise("softmax", r.elementwise("scale", r.compute("scores", scores, q, k)))
        mixed = r.compute("merge", whole, r.compute("mix", whole, weights, v))
        x = r.elementwise("norm", r.elementwise("add", r.compute("project", whole, mixed), x))
        inner = r.elementwise("gelu", r.compute("widen", 4 * whole, x))
        x = r.elementwise("norm", r.elementwise("add", r.compute("narrow", whole, inner), x))
    return r.finish(x)


def inception(image: int = 28, blocks: int = 6) -> Lifetimes:
    """Inception blocks (Szegedy et al., CVPR 2015): four branches of 64, 128, 32 and 32 channels from 256, with
    reductions to 96 and 16 before the wide ones, concatenated; branch by branch, as a program would name them.
    """
    r = Recorder()
    plane = image**2 * FLOAT
    x = r.compute("stem", 256 * plane, r.outside("image", 3 * plane))
    for _ in range(blocks):
        heads = [_normed(r, c * plane, x) for c in (64, 96, 16)] + [r.compute("pool", 256 * plane, x)]
        tails = [_normed(r, c * plane, h) for c, h in zip((128, 32, 32), heads[1:], strict=True)]
        x = r.concatenate(heads[0], *tails)
    return r.finish(r.compute("mean", 256 * FLOAT, x))


def plain_densenet(image: int = 32, growth: int = 12, layers: int = 12, blocks: int = 3) -> Lifetimes:
    """DenseNet-40 as first published, without 1x1 convolutions: each layer is normalisation, ReLU and a 3x3
    convolution of all channels so far to `growth`; between blocks all channels at half the size.
    """
    r = Recorder()
    channels, width = 2 * growth, image
    x = r.compute("conv", channels * width**2 * FLOAT, r.outside("image", 3 * image**2 * FLOAT))
    for block in range(blocks):
        for _ in range(layers):
            y = r.elementwise("relu", r.elementwise("norm", x))
            x = r.concatenate(x, r.compute("conv", growth * width**2 * FLOAT, y))
            channels += growth
        x = r.elementwise("relu", r.elementwise("norm", x))
        if block < blocks - 1:
            x = r.compute("pool", channels * (width // 2) ** 2 * FLOAT, r.compute("conv", r.size(x), x))
            width //= 2
    return r.finish(r.compute("linear", 10 * FLOAT, r.compute("mean", channels * FLOAT, x)))


NETWORKS = {
    "ResNet-18": resnet18,
    "U-Net": unet,
    "DenseNet-121": densenet,
    "DenseNet-40": plain_densenet,
    "transformer": transformer,
    "Inception": inception,
}


def with_batch(given: Lifetimes, bounds: tuple[int, int]) -> Lifetimes:
    """The same with everything N times as large: a batch as the innermost axis, so that parts stay contiguous."""
    batch = atom(Size("N"))
    buffers = (Buffer(b.name, batch * int(b.size), b.place) for b in given.buffers)  # type: ignore[arg-type]
    return Lifetimes(tuple(_batched(step, batch) for step in given.steps), tuple(buffers), (("N", bounds),))


def _batched(step: Step, batch: Polynomial) -> Step:
    shares = (Share(s.kind, s.output, s.input, batch * int(s.offset)) for s in step.shares)  # type: ignore[arg-type]
    return Step(step.name, step.reads, step.writes, tuple(shares), step.after)


def symbolic_transformer(longest: int = 2048, **asked: int) -> Lifetimes:
    """`transformer` for T tokens, 1 to `longest`: buffers are linear in T but the scores, which are quadratic."""
    given, length = transformer(tokens=1, **asked), atom(Size("T"))

    def size(buffer: Buffer) -> Polynomial:
        own = length * int(buffer.size)  # type: ignore[arg-type]
        return own * length if buffer.name.startswith(("scores", "scale", "softmax")) else own

    buffers = (Buffer(b.name, size(b), b.place) for b in given.buffers)
    return Lifetimes(tuple(_batched(step, length) for step in given.steps), tuple(buffers), (("T", (1, longest)),))


# -- random ----------------------------------------------------------------------------------------


def random_graph(seed: int, most: int = 40) -> Lifetimes:
    """A random graph with views, slices, several outputs, concatenations and elementwise steps; sizes over three
    orders of magnitude, or of a few classes as in networks.
    """
    random = Random(seed)
    r, count = Recorder(), random.randint(2, most)
    classes = [random.randint(1, 4096) * random.choice((1, 64)) for _ in range(random.choice((3, 50)))]
    known = [r.outside(f"given{n}", random.choice(classes)) for n in range(random.randint(1, 3))]
    reach = random.choice((2, 6, 40))
    while len(r.steps) < count:
        _random_step(r, random, classes, known, reach)
    read = {name for step in r.steps for name in step.reads}
    ends = [name for step in r.steps for name in step.writes if name not in read]
    dead = {name for name in ends[:-1] if random.random() < 0.3}
    return r.finish(*(name for name in ends if name not in dead), random.choice(r.steps).writes[0])


KINDS = ("compute", "compute", "elementwise", "view", "slice", "several", "concatenate")


def _random_step(r: Recorder, random: Random, classes: list[int], known: list[str], reach: int) -> None:
    reads = [random.choice(known[-reach:]) for _ in range(random.randint(1, 3))]
    match random.choice(KINDS):
        case "elementwise":
            known.append(r.elementwise("map", *reads))
        case "view":
            known.append(r.view("view", reads[0]))
        case "slice":
            size = r.size(reads[0])
            start = random.randint(0, size) // 64 * 64
            known.append(r.view("slice", reads[0], random.randint(0, size - start), start))
        case "several":
            name = r.step("split", tuple(reads), tuple(random.choice(classes) for _ in range(random.randint(2, 3))))
            known += next(s for s in r.steps if s.name == name).writes
        case "concatenate":
            known.append(r.concatenate(*reads))
        case _:
            known.append(r.compute("op", random.choice(classes), *reads))
