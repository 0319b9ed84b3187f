#define ROWS 300
#define COLS 301
#define AT(array, i, j) array[(i)][(j)]
#define SQUARE(x) ((x) * (x))
#define LAST ROWS - 1
#define UP_TO(counter, end) for (counter = 0; counter < (end); counter++)
#define CELL_TYPE float
#if ROWS < COLS && !defined(TALL)
#define SHORT_SIDE ROWS
#else
#define SHORT_SIDE COLS
#endif
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))

typedef CELL_TYPE cell;
cell grid[ROWS][COLS], result[ROWS][COLS];
double a[ROWS][ROWS], b[ROWS];

void distances(void)
{
    int i, j;
#pragma scop
    UP_TO(i, ROWS) UP_TO(j, COLS)
        AT(result, i, j) = SQUARE(AT(grid, i, j) - AT(grid, 0,
                                                      j)) + 'A' * 0.5f;
#pragma endscop
}

void diagonal(void)
{
    int i;
    double before = 0.5;
#pragma scop
    for (i = 1; i < SHORT_SIDE; i++)
        grid[i][i] = grid[i - 1][i - 1] / 2 + before;
    grid[LAST][0] = 2 * LAST;
#pragma endscop
}

void blocked(void)
{
    int block, i, j;
#pragma scop
    for (block = 0; block <= floord(ROWS - 1, 4); block++)
        for (i = max(1, 4 * block); i <= min(ROWS - 1, 4 * block + 3); i++)
            for (j = ceild(i, 2); j < i; j++)
                b[i] = b[i] - a[i][j] * b[j];
#pragma endscop
}
