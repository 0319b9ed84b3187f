enum shape { POINT, SIDE = 12, DOUBLE_SIDE = 2 * SIDE };
static const double share = 1.0 / 3, weights[3] = {0.25, 0.5, 0.25};
static const int shift = 2;
double plane[DOUBLE_SIDE][SIDE], other[DOUBLE_SIDE][SIDE], line[DOUBLE_SIDE];

static inline double clamped(double value, double low, double high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static double blend(double left, double right)
{
    const double both = left + right;
    return share * both + clamped(both, -1.0, 1);
}

static int truncated(double value) { return value; }

void smooth_row(int count, double *row, double amount)
{
    int i;
    for (i = 1; i < count - 1; i++)
        row[i] += amount * (row[i - 1] - row[i + 1]);
}

void cleared(int rows, double square[][SIDE], int from)
{
    for (int i = from; i < rows; i++)
        for (int j = 0; j < SIDE; j++)
            square[i][j] = i - j;
    return;
}

void everything(void)
{
    int i, j;
#pragma scop
    cleared(DOUBLE_SIDE, other, POINT + shift);
    for (i = 0; i < DOUBLE_SIDE; i++) {
        for (j = 1; j < SIDE; j++)
            plane[i][j] = blend(plane[i][j - 1], other[i][j]) + truncated(line[i]);
        smooth_row(SIDE, plane[i], plane[i][0]);
    }
    for (i = 1; i < DOUBLE_SIDE - 1; i++)
        line[i] = weights[0] * plane[i - 1][POINT] + weights[1] * plane[i][1] + weights[2] * plane[i + 1][2];
    smooth_row(DOUBLE_SIDE, line, 0.125);
#pragma endscop
    plane[0][0] = 0;
}
