/* C = beta C + alpha A B; A is symmetric, its lower triangle stored */
void symm(int m, int n, double alpha, double beta, double C[m][n], double A[m][m], double B[m][n])
{
    double above;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            above = 0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                above += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * above;
        }
}
