"""Convolutions (as in networks: cross-correlations) in their variants, and their gradients.

Padding goes through a padded copy of the input: its reads need no condition, so that the sum over
the window stays free of branches.
"""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "conv1d",
        "One-dimensional convolution with stride, zero padding and dilation.\n\n"
        "O[n,f,x] = Σ_{c,k} I[n,c, stride·x + dilation·k - pad] W[f,c,k]",
        """
def conv1d<T>(T(N,C,L) I, T(F,C,K) W, int32 stride, int32 pad, int32 dilation) -> (O) {
    P(n,c,x) = x >= pad && x < L + pad ? I(n,c,x-pad) : 0 where n in 0:N, c in 0:C, x in 0:L+2*pad
    O(n,f,x) +=! P(n,c,stride*x+dilation*k) * W(f,c,k)
        where x in 0:(L+2*pad-dilation*(K-1)-1)/stride+1
}
""",
        (
            sizes(N=8, C=64, L=1000, F=64, K=5, stride=1, pad=2, dilation=1),
            sizes(N=1, C=3, L=101, F=7, K=3, stride=2, pad=1, dilation=3),
        ),
    ),
    Entry(
        "conv2d",
        "Two-dimensional convolution with stride, zero padding and dilation.\n\n"
        "O[n,f,y,x] = Σ_{c,i,j} I[n,c, stride·y + dilation·i - pad, stride·x + dilation·j - pad] W[f,c,i,j]",
        """
def conv2d<T>(T(N,C,H,W) I, T(F,C,KH,KW) K, int32 stride, int32 pad, int32 dilation) -> (O) {
    P(n,c,y,x) = y >= pad && y < H + pad && x >= pad && x < W + pad ? I(n,c,y-pad,x-pad) : 0
        where n in 0:N, c in 0:C, y in 0:H+2*pad, x in 0:W+2*pad
    O(n,f,y,x) +=! P(n,c,stride*y+dilation*kh,stride*x+dilation*kw) * K(f,c,kh,kw)
        where y in 0:(H+2*pad-dilation*(KH-1)-1)/stride+1, x in 0:(W+2*pad-dilation*(KW-1)-1)/stride+1
}
""",
        (
            sizes(N=1, C=64, H=56, W=56, F=64, KH=3, KW=3, stride=1, pad=1, dilation=1),
            sizes(N=8, C=3, H=224, W=224, F=64, KH=7, KW=7, stride=2, pad=3, dilation=1),
            sizes(N=2, C=5, H=17, W=19, F=7, KH=3, KW=5, stride=2, pad=2, dilation=2),
        ),
    ),
    Entry(
        "conv2d_bias",
        "Valid two-dimensional convolution with a bias (CONV of the Tensor Comprehensions benchmarks).\n\n"
        "O[n,f,y,x] = B[f] + Σ_{c,i,j} I[n,c,y+i,x+j] W[f,c,i,j]",
        """
def conv2d_bias<T>(T(N,C,H,W) I, T(F,C,KH,KW) K, T(F) B) -> (O) {
    O(n,f,y,x) +=! I(n,c,y+kh,x+kw) * K(f,c,kh,kw)
    O(n,f,y,x) = O(n,f,y,x) + B(f)
}
""",
        (
            sizes(N=32, C=4, H=56, W=56, F=4, KH=3, KW=3),
            sizes(N=1, C=64, H=58, W=58, F=64, KH=3, KW=3),
        ),
    ),
    Entry(
        "conv3d",
        "Valid three-dimensional convolution.\n\nO[n,f,z,y,x] = Σ_{c,i,j,k} I[n,c,z+i,y+j,x+k] W[f,c,i,j,k]",
        """
def conv3d<T>(T(N,C,D,H,W) I, T(F,C,KD,KH,KW) K) -> (O) {
    O(n,f,z,y,x) +=! I(n,c,z+kd,y+kh,x+kw) * K(f,c,kd,kh,kw)
}
""",
        (sizes(N=1, C=8, D=18, H=34, W=34, F=16, KD=3, KH=3, KW=3),),
    ),
    Entry(
        "group_conv2d",
        "Valid convolution in groups of channels (GCONV of the Tensor Comprehensions benchmarks).\n\n"
        "O[n,g,f,y,x] = B[g,f] + Σ_{c,i,j} I[n,g,c,y+i,x+j] W[g,f,c,i,j]",
        """
def group_conv2d<T>(T(N,G,C,H,W) I, T(G,F,C,KH,KW) K, T(G,F) B) -> (O) {
    O(n,g,f,y,x) +=! I(n,g,c,y+kh,x+kw) * K(g,f,c,kh,kw)
    O(n,g,f,y,x) = O(n,g,f,y,x) + B(g,f)
}
""",
        (
            sizes(N=32, G=32, C=4, H=56, W=56, F=4, KH=3, KW=3),
            sizes(N=32, G=32, C=16, H=14, W=14, F=16, KH=3, KW=3),
            sizes(N=32, G=32, C=32, H=7, W=7, F=32, KH=3, KW=3),
        ),
    ),
    Entry(
        "depthwise_conv2d",
        "One filter for each channel, with stride and zero padding.\n\n"
        "O[n,c,y,x] = Σ_{i,j} I[n,c, stride·y + i - pad, stride·x + j - pad] W[c,i,j]",
        """
def depthwise_conv2d<T>(T(N,C,H,W) I, T(C,KH,KW) K, int32 stride, int32 pad) -> (O) {
    P(n,c,y,x) = y >= pad && y < H + pad && x >= pad && x < W + pad ? I(n,c,y-pad,x-pad) : 0
        where n in 0:N, c in 0:C, y in 0:H+2*pad, x in 0:W+2*pad
    O(n,c,y,x) +=! P(n,c,stride*y+kh,stride*x+kw) * K(c,kh,kw)
        where y in 0:(H+2*pad-KH)/stride+1, x in 0:(W+2*pad-KW)/stride+1
}
""",
        (
            sizes(N=1, C=256, H=56, W=56, KH=3, KW=3, stride=1, pad=1),
            sizes(N=2, C=5, H=17, W=19, KH=3, KW=3, stride=2, pad=1),
        ),
    ),
    Entry(
        "separable_conv2d",
        "A depthwise convolution followed by a pointwise one, valid.\n\n"
        "O[n,f,y,x] = Σ_c V[f,c] Σ_{i,j} I[n,c,y+i,x+j] W[c,i,j]",
        """
def separable_conv2d<T>(T(N,C,H,W) I, T(C,KH,KW) K, T(F,C) V) -> (O) {
    D(n,c,y,x) +=! I(n,c,y+kh,x+kw) * K(c,kh,kw)
    O(n,f,y,x) +=! D(n,c,y,x) * V(f,c)
}
""",
        (sizes(N=1, C=64, H=58, W=58, F=128, KH=3, KW=3),),
    ),
    Entry(
        "conv_transpose2d",
        "Transposed convolution: each input pixel adds a scaled filter to the output.\n\n"
        "O[n,f, stride·y + i - pad, stride·x + j - pad] += I[n,c,y,x] W[c,f,i,j]",
        """
def conv_transpose2d<T>(T(N,C,H,W) I, T(C,F,KH,KW) K, int32 stride, int32 pad) -> (O) {
    P(n,f,stride*y+kh,stride*x+kw) +=! I(n,c,y,x) * K(c,f,kh,kw)
    O(n,f,y,x) = P(n,f,y+pad,x+pad)
        where y in 0:(H-1)*stride+KH-2*pad, x in 0:(W-1)*stride+KW-2*pad
}
""",
        (
            sizes(N=1, C=64, H=28, W=28, F=32, KH=4, KW=4, stride=2, pad=1),
            sizes(N=2, C=3, H=7, W=5, F=4, KH=3, KW=3, stride=3, pad=0),
        ),
    ),
    Entry(
        "conv2d_input_gradient",
        "Gradient of a valid convolution with respect to its input.\n\nG[n,c,y+i,x+j] += D[n,f,y,x] W[f,c,i,j]",
        """
def conv2d_input_gradient<T>(T(N,F,H,W) D, T(F,C,KH,KW) K) -> (G) {
    G(n,c,y+kh,x+kw) +=! D(n,f,y,x) * K(f,c,kh,kw)
}
""",
        (sizes(N=1, C=32, H=54, W=54, F=32, KH=3, KW=3),),
    ),
    Entry(
        "conv2d_weight_gradient",
        "Gradient of a valid convolution with respect to its filters.\n\n"
        "G[f,c,i,j] = Σ_{n,y,x} D[n,f,y,x] I[n,c,y+i,x+j]",
        """
def conv2d_weight_gradient<T>(T(N,F,OH,OW) D, T(N,C,H,W) I) -> (G) {
    G(f,c,kh,kw) +=! D(n,f,y,x) * I(n,c,y+kh,x+kw)
}
""",
        (sizes(N=4, C=32, H=56, W=56, F=32, OH=54, OW=54),),
    ),
)
