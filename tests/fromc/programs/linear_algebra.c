/* Functions of their own: sizes are parameters. */
#pragma scop outside_of_all_functions
for (i = 0; i < n; i++)
    for (j = 0; j < i; j++)
        upper[j][i] = lower[i][j];
#pragma endscop

void decomposed(int n, double a[n][n])
{
    int i, j, k;
#pragma scop
    for (k = 0; k < n; k++) {
        for (i = k + 1; i < n; i++)
            a[i][k] /= a[k][k] + 4;
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
    }
#pragma endscop
}

void forward_solved(int n, double l[n][n], double x[n], double right[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = right[i];
        for (int j = 0; j < i; j++)
            x[i] -= l[i][j] * x[j];
        x[i] = x[i] / (l[i][i] + 5);
    }
#pragma endscop
}

void rank_two(int n, int m, double alpha, double c[n][n], double a[n][m], double b[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int k = 0; k < m; k++)
                c[i][j] += alpha * (a[i][k] * b[j][k] + b[i][k] * a[j][k]);
#pragma endscop
}

void centred(int rows, int columns, double table[rows][columns], double mean[columns], double spread[columns][columns])
{
#pragma scop
    for (int j = 0; j < columns; j++) {
        mean[j] = 0;
        for (int i = 0; i < rows; i++)
            mean[j] += table[i][j];
        mean[j] /= rows;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            table[i][j] -= mean[j];
    for (int j = 0; j < columns; j++)
        for (int k = j; k < columns; k++) {
            spread[j][k] = 0;
            for (int i = 0; i < rows; i++)
                spread[j][k] += table[i][j] * table[i][k];
            spread[k][j] = spread[j][k];
        }
#pragma endscop
}

void shortest(int n, int way[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                way[i][j] = way[i][j] < way[i][k] + way[k][j] ? way[i][j] : way[i][k] + way[k][j];
#pragma endscop
}

void contracted(int r, int q, int p, double cube[r][q][p], double factor[p][p], double row[p])
{
#pragma scop
    for (int a = 0; a < r; a++)
        for (int b = 0; b < q; b++) {
            for (int s = 0; s < p; s++) {
                row[s] = 0;
                for (int t = 0; t < p; t++)
                    row[s] += cube[a][b][t] * factor[t][s];
            }
            for (int s = 0; s < p; s++)
                cube[a][b][s] = row[s];
        }
#pragma endscop
}

void four_indices(int n, double t[n][n][n][n], double u[n][n][n][n], double c[n][n])
{
#pragma scop
    for (int a = 0; a < n; a++)
        for (int q = 0; q < n; q++)
            for (int r = 0; r < n; r++)
                for (int s = 0; s < n; s++)
                    for (int p = 0; p < n; p++)
                        u[a][q][r][s] += t[p][q][r][s] * c[p][a];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int r = 0; r < n; r++)
                for (int s = 0; s < n; s++)
                    for (int q = 0; q < n; q++)
                        t[a][b][r][s] += u[a][q][r][s] * c[q][b];
#pragma endscop
}
