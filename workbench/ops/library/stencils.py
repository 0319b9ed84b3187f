"""Stencils and time-stepping schemes on regular grids."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "jacobi_1d",
        "Three-point Jacobi steps; the ends stay.\n\nA[i] ← (A[i-1] + A[i] + A[i+1]) / 3",
        """
def jacobi_1d<T>(T(N) X, int32 steps) -> (A) {
    A(i) = X(i)
    for t in 0:steps {
        B(i) = T((A(i-1) + A(i) + A(i+1)) / 3)
        A(i) = B(i)
    }
}
""",
        (sizes(N=4000, steps=100), sizes(N=37, steps=5)),
    ),
    Entry(
        "jacobi_2d",
        "Five-point Jacobi steps; the border stays.\n\n"
        "A[i,j] ← (A[i,j] + A[i-1,j] + A[i+1,j] + A[i,j-1] + A[i,j+1]) / 5",
        """
def jacobi_2d<T: floats>(T(N,M) X, int32 steps) -> (A) {
    A(i,j) = X(i,j)
    for t in 0:steps {
        B(i,j) = T(0.2 * (A(i,j) + A(i-1,j) + A(i+1,j) + A(i,j-1) + A(i,j+1)))
        A(i,j) = B(i,j)
    }
}
""",
        (sizes(N=512, M=512, steps=20), sizes(N=19, M=23, steps=4)),
    ),
    Entry(
        "seidel_2d",
        "Nine-point Gauss-Seidel sweeps: new values are used as soon as they exist.\n\n"
        "A[i,j] ← mean of the 3×3 block around (i,j)",
        """
def seidel_2d<T>(T(N,M) X, int32 steps) -> (A) {
    A(i,j) = X(i,j)
    for t in 0:steps {
        A(i,j) = T((A(i-1,j-1) + A(i-1,j) + A(i-1,j+1)
                + A(i,j-1) + A(i,j) + A(i,j+1)
                + A(i+1,j-1) + A(i+1,j) + A(i+1,j+1)) / 9)
    }
}
""",
        (sizes(N=400, M=400, steps=10), sizes(N=19, M=23, steps=3)),
    ),
    Entry(
        "heat_3d",
        "Explicit steps of the heat equation in three dimensions; the border stays.\n\nA ← A + 0.125 ΔA",
        """
def heat_3d<T: floats>(T(N,M,K) X, int32 steps) -> (A) {
    A(i,j,k) = X(i,j,k)
    for t in 0:steps {
        B(i,j,k) = T(A(i,j,k)
            + 0.125 * (A(i+1,j,k) - 2 * A(i,j,k) + A(i-1,j,k))
            + 0.125 * (A(i,j+1,k) - 2 * A(i,j,k) + A(i,j-1,k))
            + 0.125 * (A(i,j,k+1) - 2 * A(i,j,k) + A(i,j,k-1)))
        A(i,j,k) = B(i,j,k)
    }
}
""",
        (sizes(N=64, M=64, K=64, steps=10), sizes(N=11, M=9, K=13, steps=3)),
    ),
    Entry(
        "wave_1d",
        "Leapfrog steps of the wave equation between fixed ends, starting at rest.\n\n"
        "u_{t+1}[i] = 2 u_t[i] - u_{t-1}[i] + c (u_t[i-1] - 2 u_t[i] + u_t[i+1])",
        """
def wave_1d<T>(T(N) X, T c, int32 steps) -> (u) {
    u(i) = X(i)
    old(i) = X(i)
    for t in 0:steps {
        new(i) = T(2 * u(i) - old(i) + c * (u(i-1) - 2 * u(i) + u(i+1)))
        old(i) = u(i)
        u(i) = new(i)
    }
}
""",
        (sizes(N=4000, steps=100), sizes(N=37, steps=6)),
        values={"c": (0.1, 0.5)},
    ),
    Entry(
        "blur",
        "Separable 3×3 box blur in two passes; the picture shrinks by 2 in each direction.\n\n"
        "B[y,x] = mean of I[y..y+2, x..x+2]",
        """
def blur<T>(T(H,W) I) -> (B) {
    R(y,x) = (I(y,x) + I(y,x+1) + I(y,x+2)) / 3
    B(y,x) = (R(y,x) + R(y+1,x) + R(y+2,x)) / 3
}
""",
        (sizes(H=1080, W=1920), sizes(H=37, W=41)),
    ),
    Entry(
        "sobel",
        "Magnitude of the Sobel gradient of a picture.\n\nG = sqrt(Gx² + Gy²)",
        """
def sobel<T>(T(H,W) I) -> (G) {
    G(y,x) = sqrt(gx * gx + gy * gy) where
        gx = I(y-1,x+1) - I(y-1,x-1) + 2 * (I(y,x+1) - I(y,x-1)) + I(y+1,x+1) - I(y+1,x-1),
        gy = I(y+1,x-1) - I(y-1,x-1) + 2 * (I(y+1,x) - I(y-1,x)) + I(y+1,x+1) - I(y-1,x+1)
}
""",
        (sizes(H=1080, W=1920), sizes(H=37, W=41)),
    ),
    Entry(
        "life",
        "Generations of Conway's game of life on a torus.\n\n"
        "a cell lives if it has 3 living neighbours, or lives and has 2",
        """
def life(uint8(H,W) X, int32 steps) -> (A) {
    A(y,x) = X(y,x)
    for t in 0:steps {
        S(y,x) +=! A((y + dy + H - 1) % H, (x + dx + W - 1) % W)
            where y in 0:H, x in 0:W, dy in 0:3, dx in 0:3
        A(y,x) = uint8(S(y,x) == 3 || (A(y,x) == 1 && S(y,x) == 4))
    }
}
""",
        (sizes(H=256, W=256, steps=10), sizes(H=7, W=11, steps=5)),
        values={"X": (0, 1)},
    ),
)
