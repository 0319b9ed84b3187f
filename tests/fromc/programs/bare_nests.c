// Two smoothings in a row, nothing declared.
#pragma scop three_point
for (i = 1; i < N - 1; i++)
    mid[i] = 0.25 * left[i - 1] + 0.5 * left[i] + 0.25 * left[i + 1];

for (i = 2; i < N - 2; i++)
    right[i] = mid[i - 1] - mid[i + 1];
#pragma endscop

finish();

// A product of polynomials, its coefficients cleared first.
#pragma scop product_of_polynomials
for (d = 0; d <= 2 * deg; d++)
    c[d] = 0;
for (p = 0; p <= deg; p++)
    for (q = 0; q <= deg; q++)
        c[p + q] += a[p] * b[q];
#pragma endscop

// Every cell waits for two others.
#pragma scop wavefront
for (r = 1; r < H; r++)
    for (s = 1; s < W; s++)
        w[r][s] = 0.5 * (w[r - 1][s] + w[r][s - 1]) + cost[r][s];
#pragma endscop

// Time steps in two halves of one array.
#pragma scop alternating
for (t = 0; t < T; t++)
    for (i = 1; i < N - 1; i++)
        u[(t + 1) % 2][i] = u[t % 2][i - 1] + u[t % 2][i + 1] - u[t % 2][i];
#pragma endscop

// A scalar that each iteration has for itself, and one that is added up.
#pragma scop scalars
for (i = 0; i < n; i++) {
    v = x[i] * scale;
    y[i] = v * v;
    total = total + v;
}
#pragma endscop

// Cells by the lists that name them.
#pragma scop gathered
for (e = 0; e < edges; e++)
    gain[e] = height[to[e]] - height[from[e]];
#pragma endscop

// Shifted triangles.
#pragma scop lower_triangle
for (i = 0; i < n; i++)
    for (j = 0; j < i; j++)
        if (i + j < bound)
            l[i][j] = l[i][j] / d[j];
#pragma endscop
