"""Recurrent cells, recurrent networks over a sequence, and scans."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "rnn_cell",
        "One step of a plain recurrent cell.\n\nY = tanh(X Wᵀ + h Uᵀ + b)",
        """
def rnn_cell<T>(T(B,I) X, T(B,H) h, T(H,I) W, T(H,H) U, T(H) bias) -> (Y) {
    Z(b,j) +=! X(b,i) * W(j,i)
    Z(b,j) += h(b,k) * U(j,k)
    Y(b,j) = tanh(Z(b,j) + bias(j))
}
""",
        (sizes(B=64, I=256, H=256), sizes(B=3, I=5, H=7)),
    ),
    Entry(
        "lstm_cell",
        "One step of a long short-term memory cell (gates in the order input, forget, candidate, output).\n\n"
        "c' = σ(f) c + σ(i) tanh(g),  h' = σ(o) tanh(c')",
        """
def lstm_cell<T>(T(B,I) X, T(B,H) h, T(B,H) c, T(4,H,I) W, T(4,H,H) U, T(4,H) bias) -> (hidden, cell) {
    Z(b,g,j) +=! X(b,i) * W(g,j,i)
    Z(b,g,j) += h(b,k) * U(g,j,k)
    Z(b,g,j) = Z(b,g,j) + bias(g,j)
    cell(b,j) = sigmoid(Z(b,1,j)) * c(b,j) + sigmoid(Z(b,0,j)) * tanh(Z(b,2,j))
    hidden(b,j) = sigmoid(Z(b,3,j)) * tanh(cell(b,j))
}
""",
        (sizes(B=64, I=256, H=256), sizes(B=3, I=5, H=7)),
    ),
    Entry(
        "gru_cell",
        "One step of a gated recurrent unit (gates in the order reset, update, candidate).\n\n"
        "n = tanh(X Wₙᵀ + r ⊙ (h Uₙᵀ)),  h' = (1 - z) n + z h",
        """
def gru_cell<T>(T(B,I) X, T(B,H) h, T(3,H,I) W, T(3,H,H) U, T(3,H) p, T(3,H) q) -> (Y) {
    A(b,g,j) +=! X(b,i) * W(g,j,i)
    R(b,g,j) +=! h(b,k) * U(g,j,k)
    A(b,g,j) = A(b,g,j) + p(g,j)
    R(b,g,j) = R(b,g,j) + q(g,j)
    z(b,j) = sigmoid(A(b,1,j) + R(b,1,j))
    n(b,j) = tanh(A(b,2,j) + sigmoid(A(b,0,j) + R(b,0,j)) * R(b,2,j))
    Y(b,j) = (1.0 - z(b,j)) * n(b,j) + z(b,j) * h(b,j)
}
""",
        (sizes(B=64, I=256, H=256), sizes(B=3, I=5, H=7)),
    ),
    Entry(
        "rnn",
        "A plain recurrent network over a sequence.\n\nh_t = tanh(X[t] Wᵀ + h_{t-1} Uᵀ + b),  Y[t] = h_t",
        """
def rnn<T: floats>(T(S,B,I) X, T(B,H) start, T(H,I) W, T(H,H) U, T(H) bias) -> (Y) {
    V(t,b,j) +=! X(t,b,i) * W(j,i)
    h(b,j) = start(b,j)
    for t in 0:S {
        Z(b,j) = V(t,b,j) + bias(j)
        Z(b,j) += h(b,k) * U(j,k)
        h(b,j) = T(tanh(Z(b,j)))
        Y(t,b,j) = h(b,j)
    }
}
""",
        (sizes(S=32, B=16, I=64, H=64), sizes(S=5, B=3, I=4, H=7)),
    ),
    Entry(
        "lstm",
        "A long short-term memory network over a sequence.\n\nY[t] is the hidden state after step t",
        """
def lstm<T: floats>(T(S,B,I) X, T(B,H) h0, T(B,H) c0, T(4,H,I) W, T(4,H,H) U, T(4,H) bias) -> (Y) {
    V(t,b,g,j) +=! X(t,b,i) * W(g,j,i)
    h(b,j) = h0(b,j)
    c(b,j) = c0(b,j)
    for t in 0:S {
        Z(b,g,j) = V(t,b,g,j) + bias(g,j)
        Z(b,g,j) += h(b,k) * U(g,j,k)
        c(b,j) = T(sigmoid(Z(b,1,j)) * c(b,j) + sigmoid(Z(b,0,j)) * tanh(Z(b,2,j)))
        h(b,j) = T(sigmoid(Z(b,3,j)) * tanh(c(b,j)))
        Y(t,b,j) = h(b,j)
    }
}
""",
        (sizes(S=32, B=16, I=64, H=64), sizes(S=5, B=3, I=4, H=7)),
    ),
    Entry(
        "cumsum",
        "Running sum along each row.\n\nY[m,n] = Σ_{j ≤ n} X[m,j]",
        """
def cumsum<T>(T(M,N) X) -> (Y) {
    Y(m,n) = X(m,n)
    Y(m,n) = T(Y(m,n) + Y(m,n-1))
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
    Entry(
        "cummax",
        "Running maximum along each row.\n\nY[m,n] = max_{j ≤ n} X[m,j]",
        """
def cummax<T>(T(M,N) X) -> (Y) {
    Y(m,n) = X(m,n)
    Y(m,n) = T(max(Y(m,n), Y(m,n-1)))
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
    Entry(
        "linear_recurrence",
        "A linear recurrence with coefficients that depend on time (the core of state-space layers).\n\n"
        "Y[t,d] = A[t,d] Y[t-1,d] + X[t,d]",
        """
def linear_recurrence<T>(T(S,D) A, T(S,D) X) -> (Y) {
    Y(t,d) = X(t,d)
    for t in 1:S {
        Y(t,d) = T(Y(t,d) + A(t,d) * Y(t-1,d))
    }
}
""",
        (sizes(S=512, D=1024), sizes(S=13, D=7)),
        values={"A": (0.0, 1.0)},
    ),
    Entry(
        "moving_average",
        "Exponentially weighted moving average of each column.\n\nY[t] = α X[t] + (1 - α) Y[t-1], Y[0] = X[0]",
        """
def moving_average<T: floats>(T(S,D) X, T alpha) -> (Y) {
    Y(t,d) = X(t,d)
    for t in 1:S {
        Y(t,d) = T(alpha * X(t,d) + (1.0 - alpha) * Y(t-1,d))
    }
}
""",
        (sizes(S=512, D=1024), sizes(S=13, D=7)),
        values={"alpha": (0.1, 0.9)},
    ),
)
