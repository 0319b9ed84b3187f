/* the most base pairs of each piece of a sequence that folds without crossing */
void nussinov(int n, int seq[n], int table[n][n])
{
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            table[i][j] = max(table[i][j], table[i][j - 1]);
            if (i + 1 < n)
                table[i][j] = max(table[i][j], table[i + 1][j]);
            if (i + 1 < n) {
                if (i < j - 1)
                    table[i][j] = max(table[i][j], table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0));
                else
                    table[i][j] = max(table[i][j], table[i + 1][j - 1]);
            }
            for (int k = i + 1; k < j; k++)
                table[i][j] = max(table[i][j], table[i][k] + table[k + 1][j]);
        }
    }
}
