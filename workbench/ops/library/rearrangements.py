"""Movement of data: transposes, padding, concatenation, unfolding."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "transpose",
        "Transposed matrix.\n\nB[n,m] = A[m,n]",
        """
def transpose<T>(T(M,N) A) -> (B) {
    B(n,m) = A(m,n)
}
""",
        (sizes(M=2048, N=2048), sizes(M=61, N=257)),
    ),
    Entry(
        "channels_last",
        "Pictures from planes of channels to pixels of channels.\n\nO[n,h,w,c] = I[n,c,h,w]",
        """
def channels_last<T>(T(N,C,H,W) I) -> (O) {
    O(n,h,w,c) = I(n,c,h,w)
}
""",
        (sizes(N=8, C=64, H=56, W=56), sizes(N=2, C=3, H=5, W=7)),
    ),
    Entry(
        "concat",
        "Two matrices side by side.\n\nO = [A B]",
        """
def concat<T>(T(M,N) A, T(M,K) B) -> (T(M,N+K) O) {
    O(m,n) = A(m,n)
    O(m,N+k) = B(m,k)
}
""",
        (sizes(M=1024, N=512, K=512), sizes(M=5, N=3, K=7)),
    ),
    Entry(
        "pad2d",
        "A picture with a border of a constant.\n\nO[y,x] = I[y-top, x-left] inside, value outside",
        """
def pad2d<T>(T(H,W) I, T value, int32 top, int32 left, int32 bottom, int32 right) -> (O) {
    O(y,x) = y >= top && y < H + top && x >= left && x < W + left ? I(y-top,x-left) : value
        where y in 0:H+top+bottom, x in 0:W+left+right
}
""",
        (
            sizes(H=1080, W=1920, top=1, left=1, bottom=1, right=1),
            sizes(H=5, W=7, top=2, left=0, bottom=1, right=3),
        ),
    ),
    Entry(
        "flip",
        "A matrix with its columns in reverse order.\n\nO[m,n] = A[m, N-1-n]",
        """
def flip<T>(T(M,N) A) -> (O) {
    O(m,n) = A(m,N-1-n)
}
""",
        (sizes(M=1024, N=1024), sizes(M=5, N=7)),
    ),
    Entry(
        "roll",
        "Columns shifted around.\n\nO[m,n] = A[m, (n - shift) mod N]",
        """
def roll<T>(T(M,N) A, int32 shift) -> (O) {
    O(m,n) = A(m,(n-shift)%N) where n in 0:N
}
""",
        (sizes(M=1024, N=1024, shift=100), sizes(M=5, N=7, shift=-3)),
    ),
    Entry(
        "unfold",
        "Windows of a picture as columns of a matrix (im2col).\n\nO[c,i,j,y,x] = I[c, y+i, x+j]",
        """
def unfold<T>(T(C,H,W) I, int32 k) -> (O) {
    O(c,i,j,y,x) = I(c,y+i,x+j) where i in 0:k, j in 0:k, y in 0:H-k+1, x in 0:W-k+1
}
""",
        (sizes(C=64, H=58, W=58, k=3), sizes(C=3, H=7, W=5, k=2)),
    ),
    Entry(
        "pixel_shuffle",
        "Channels rearranged into a larger picture (Shi et al., 2016).\n\n"
        "O[n,c,y,x] = I[n, c, y mod r, x mod r, ⌊y/r⌋, ⌊x/r⌋]",
        """
def pixel_shuffle<T>(T(N,C,r,r,H,W) I) -> (O) {
    O(n,c,y,x) = I(n,c,y%r,x%r,y/r,x/r) where y in 0:r*H, x in 0:r*W
}
""",
        (sizes(N=1, C=16, H=56, W=56, r=2), sizes(N=2, C=3, H=4, W=5, r=3)),
    ),
    Entry(
        "interleave",
        "Two vectors merged alternately.\n\nO[2i] = A[i], O[2i+1] = B[i]",
        """
def interleave<T>(T(N) A, T(N) B) -> (T(2*N) O) {
    O(2*i) = A(i)
    O(2*i+1) = B(i)
}
""",
        (sizes(N=1 << 20), sizes(N=13)),
    ),
    Entry(
        "lower_triangle",
        "A matrix with zeros above the diagonal.\n\nO[i,j] = j ≤ i ? A[i,j] : 0",
        """
def lower_triangle<T>(T(M,N) A) -> (O) {
    O(i,j) = j <= i ? A(i,j) : 0 where i in 0:M, j in 0:N
}
""",
        (sizes(M=1024, N=1024), sizes(M=5, N=7)),
    ),
    Entry(
        "trace",
        "Sum of the diagonal.\n\ns = Σ_i A[i,i]",
        """
def trace<T>(T(N,N) A) -> (s) {
    s +=! A(i,i)
}
""",
        (sizes(N=1024), sizes(N=7)),
    ),
)
