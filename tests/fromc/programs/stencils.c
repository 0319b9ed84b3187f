#define N 500
#define T 100
double A[N][N], B[N][N], line[N], next_line[N], ring[2][N], cube[2][N][N][N];
double first[N], second[N];

int main()
{
    int t, i, j, k, n = N, steps = T;

#pragma scop copied_back
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            next_line[i] = 0.33 * (line[i - 1] + line[i] + line[i + 1]);
        for (i = 1; i < n - 1; i++)
            line[i] = next_line[i];
    }
#pragma endscop

#pragma scop in_place
    for (t = 0; t <= T - 1; t++)
        for (i = 1; i <= N - 2; i++)
            for (j = 1; j <= N - 2; j++)
                A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0;
#pragma endscop

#pragma scop ring_of_cells
    for (t = 1; t < T; t++)
        for (i = 0; i < N; i++)
            ring[t % 2][i] = 0.5 * ring[(t - 1) % 2][i]
                + 0.25 * (ring[(t - 1) % 2][i == 0 ? N - 1 : i - 1] + ring[(t - 1) % 2][i == N - 1 ? 0 : i + 1]);
#pragma endscop

#pragma scop alternating_directions
    for (t = 0; t < T; t++) {
        for (i = 0; i < N; i++)
            for (j = 1; j < N; j++)
                A[i][j] -= 0.3 * A[i][j - 1] * B[i][j];
        for (i = 1; i < N; i++)
            for (j = 0; j < N; j++)
                A[i][j] -= 0.3 * A[i - 1][j] * B[i][j];
        for (i = N - 2; i >= 0; i--)
            for (j = N - 1; j > 0; j--)
                B[i][j] += 0.1 * B[i + 1][j - 1];
    }
#pragma endscop

#pragma scop in_space
    for (t = 0; t < 3; t++)
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                for (k = 1; k < N - 1; k++)
                    cube[(t + 1) % 2][i][j][k] = cube[t % 2][i][j][k] + 0.1 * (cube[t % 2][i - 1][j][k]
                        + cube[t % 2][i + 1][j][k] + cube[t % 2][i][j - 1][k] + cube[t % 2][i][j + 1][k]
                        + cube[t % 2][i][j][k - 1] + cube[t % 2][i][j][k + 1] - 6 * cube[t % 2][i][j][k]);
#pragma endscop

#pragma scop odd_and_even
    for (i = 0; i < N; i++) {
        if (i % 2 == 0)
            first[i / 2] = line[i];
        else
            second[i / 2] = line[i];
    }
    for (i = 0; i < (N - 1) / 2; i++)
        first[i] = first[i] + second[(3 * i + 1) % 4];
#pragma endscop
    return 0;
}
