#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "timing_of_ours.h"

#define STEPS 40
#define SIDE (1000)

#ifdef MEASURE
#define WHEN_MEASURED(call) call
#else
#define WHEN_MEASURED(call)
#endif

static double heat[2][SIDE + 2][SIDE + 2];
double field_x[SIDE][SIDE + 1], field_y[SIDE + 1][SIDE], charge[SIDE][SIDE];
double began, ended;

static double seconds_now(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + 1e-6 * now.tv_usec;
}

void fill(void)
{
    for (int i = 0; i < SIDE + 2; i++)
        for (int j = 0; j < SIDE + 2; j++)
            heat[0][i][j] = heat[1][i][j] = (i * j) % 17;
}

int main(int argc, char **argv)
{
    int step, i, j;
    register double around;

    fill();
    printf("{ begins with %d words\n", argc);
    WHEN_MEASURED(began = seconds_now());

#pragma scop five_points
    for (step = 0; step < STEPS; step++)
        for (i = 1; i <= SIDE; i++)
            for (j = 1; j <= SIDE; j++) {
                around = heat[step % 2][i - 1][j] + heat[step % 2][i + 1][j]
                       + heat[step % 2][i][j - 1] + heat[step % 2][i][j + 1];
                heat[(step + 1) % 2][i][j] = 0.2 * (heat[step % 2][i][j] + around);
            }
#pragma endscop

    WHEN_MEASURED(ended = seconds_now());
    WHEN_MEASURED(fprintf(stderr, "%f s }\n", ended - began));

#pragma scop two_fields
    for (step = 0; step < STEPS; step++) {
        for (i = 0; i < SIDE; i++)
#pragma omp parallel for
            for (j = 1; j < SIDE; j++)
                field_x[i][j] -= 0.5 * (charge[i][j] - charge[i][j - 1]);
        for (i = 1; i < SIDE; i++)
            for (j = 0; j < SIDE; j++)
                field_y[i][j] -= 0.5 * (charge[i][j] - charge[i - 1][j]);
        for (i = 0; i < SIDE; i++)
            for (j = 0; j < SIDE; j++)
                charge[i][j] -= 0.7 * (field_x[i][j + 1] - field_x[i][j] + field_y[i + 1][j] - field_y[i][j]);
    }
#pragma endscop

    for (i = 0; i < argc; i++)
        puts(argv[i]);
    return (int)heat[0][1][1];
}
