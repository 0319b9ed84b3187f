"""Pooling and resampling of pictures."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "max_pool2d",
        "Largest value of each window, with stride and padding.\n\n"
        "O[n,c,y,x] = max_{i,j < k} I[n,c, stride·y + i - pad, stride·x + j - pad]",
        """
def max_pool2d<T>(T(N,C,H,W) I, int32 k, int32 stride, int32 pad) -> (O) {
    P(n,c,y,x) = y >= pad && y < H + pad && x >= pad && x < W + pad ? I(n,c,y-pad,x-pad) : -inf
        where n in 0:N, c in 0:C, y in 0:H+2*pad, x in 0:W+2*pad
    O(n,c,y,x) max=! P(n,c,stride*y+i,stride*x+j)
        where y in 0:(H+2*pad-k)/stride+1, x in 0:(W+2*pad-k)/stride+1, i in 0:k, j in 0:k
}
""",
        (
            sizes(N=8, C=64, H=112, W=112, k=3, stride=2, pad=1),
            sizes(N=2, C=3, H=17, W=13, k=2, stride=2, pad=0),
        ),
    ),
    Entry(
        "avg_pool2d",
        "Mean of each window, with stride and zero padding (which counts).\n\n"
        "O[n,c,y,x] = Σ_{i,j < k} I[n,c, stride·y + i - pad, stride·x + j - pad] / k²",
        """
def avg_pool2d<T>(T(N,C,H,W) I, int32 k, int32 stride, int32 pad) -> (O) {
    P(n,c,y,x) = y >= pad && y < H + pad && x >= pad && x < W + pad ? I(n,c,y-pad,x-pad) : 0
        where n in 0:N, c in 0:C, y in 0:H+2*pad, x in 0:W+2*pad
    O(n,c,y,x) +=! P(n,c,stride*y+i,stride*x+j)
        where y in 0:(H+2*pad-k)/stride+1, x in 0:(W+2*pad-k)/stride+1, i in 0:k, j in 0:k
    O(n,c,y,x) = O(n,c,y,x) / (k * k)
}
""",
        (
            sizes(N=8, C=64, H=112, W=112, k=3, stride=2, pad=1),
            sizes(N=2, C=3, H=17, W=13, k=2, stride=3, pad=0),
        ),
    ),
    Entry(
        "global_avg_pool",
        "Mean of each channel.\n\nO[n,c] = Σ_{y,x} I[n,c,y,x] / (H W)",
        """
def global_avg_pool<T: floats>(T(N,C,H,W) I) -> (O) {
    O(n,c) +=! I(n,c,y,x)
    O(n,c) = O(n,c) / (H * W)
}
""",
        (sizes(N=8, C=512, H=14, W=14),),
    ),
    Entry(
        "upsample_nearest",
        "Every pixel repeated in both directions.\n\nO[n,c,y,x] = I[n,c, ⌊y / scale⌋, ⌊x / scale⌋]",
        """
def upsample_nearest<T>(T(N,C,H,W) I, int32 scale) -> (O) {
    O(n,c,y,x) = I(n,c,y/scale,x/scale) where y in 0:scale*H, x in 0:scale*W
}
""",
        (sizes(N=1, C=64, H=56, W=56, scale=2), sizes(N=1, C=3, H=5, W=7, scale=3)),
    ),
    Entry(
        "upsample_bilinear",
        "Twice the size by bilinear interpolation between pixel centres; the border is repeated.\n\n"
        "O[n,c,y,x] = ¾ of the nearest and ¼ of the next pixel, in each direction",
        """
def upsample_bilinear<T>(T(N,C,H,W) I) -> (O) {
    R(n,c,y,x) = 0.75 * I(n,c,y/2,x) + 0.25 * I(n,c,min(max(y/2 + 2*(y%2) - 1, 0), H-1),x)
        where y in 0:2*H
    O(n,c,y,x) = 0.75 * R(n,c,y,x/2) + 0.25 * R(n,c,y,min(max(x/2 + 2*(x%2) - 1, 0), W-1))
        where x in 0:2*W
}
""",
        (sizes(N=1, C=64, H=56, W=56), sizes(N=2, C=3, H=5, W=7)),
    ),
)
